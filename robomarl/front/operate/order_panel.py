"""`OrderPanel`: preflight and orders with their dialogs; the answers of robots and monitor."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from html import escape

from nicegui import run, ui

from robomarl.core.config import UserError
from robomarl.front.operate.visit import Visit
from robomarl.front.operate.words import ORDERS, badge, clock
from robomarl.ros.preflight.seen import CheckRow
from robomarl.ros.robot.health import ERROR, OK, WARN
from robomarl.ros.robot.state_machine import Order


class OrderPanel:
    """The buttons of one page."""

    def __init__(self, visit: Visit) -> None:
        """Draw the panel into the open slot."""
        self._visit = visit
        with ui.element("section").classes("panel orders-panel").props('aria-label="Orders"'):
            self._title = ui.html("", sanitize=False, tag="h2")
            with ui.element("div").classes("orders"):
                self._button("Preflight", self._preflight)
                for order, words in ORDERS.items():
                    self._button(words.label, partial(self._ask, order))
            self._hint = ui.html("", sanitize=False, tag="p").classes("hint").props('aria-live="polite"')
        self.update()

    def update(self) -> None:
        """Show the target of orders, and the last preflight."""
        self._title.set_content(f"Orders to {escape(self._visit.whom)}")
        checked = self._visit.station.checked
        if checked is None:
            text = "No preflight has been made with this page."
        else:
            result = f"{checked.failed} checks failed" if checked.failed else "no check failed"
            text = f"Preflight at {clock(checked.at_s)} by {escape(checked.operator)}: {result}."
        self._hint.set_content(text)

    def _button(self, label: str, act: Callable[[], Awaitable[None]]) -> None:
        with ui.element("button").classes("act").props('type="button"').on("click", act):
            ui.html(escape(label), sanitize=False, tag="span")

    async def _ask(self, order: Order) -> None:
        """Ask whether an order is meant, and give it."""
        words, visit = ORDERS[order], self._visit
        target, whom = visit.target, visit.whom
        if words.asks:
            visit.operator.doing = f"{words.label} {whom}?"
            meant = await confirmed(f"{words.label} {whom}", words.asks.format(whom=whom), self._warning(order))
            visit.operator.doing = ""
            if not meant:
                return
        await self._give(order, target, whom)

    async def _give(self, order: Order, target: str, whom: str) -> None:
        label = ORDERS[order].label
        refusal = await asyncio.wrap_future(self._visit.station.order(order, target, self._visit.operator.name))
        if self._title.is_deleted:  # the page has gone; the log has the answer
            return
        if refusal:
            ui.notify(f"{label} refused: {refusal}", type="negative", timeout=12000, close_button="Close")
        else:
            ui.notify(f"{label}: carried out by {whom}.", type="positive")

    def _warning(self, order: Order) -> str:
        """Return what speaks against arming or activating now."""
        checked, report = self._visit.station.checked, self._visit.station.snapshot.report
        if order not in (Order.ARM, Order.ACTIVATE):
            return ""
        found = [] if checked else ["no preflight was made"]
        found += [f"{checked.failed} checks of the preflight failed"] if checked and checked.failed else []
        found += [f"{m.name} is {m.word}" for m in report.members if m.level == ERROR]
        found += [f"{m.name} is {m.word}" for m in report.members if m.kind == "recorder" and m.level == WARN]
        return "; ".join(found)

    async def _preflight(self) -> None:
        with ui.dialog() as dialog, ui.element("div").classes("ask"):
            with ui.element("div").classes("orders"):
                ui.html("Preflight", sanitize=False, tag="h2").style("flex: 1")
                close_button(dialog)
            body = ui.html("<p>Listening to the team for some seconds; nothing moves.</p>", sanitize=False)
        dialog.open()
        try:
            checked = await run.io_bound(self._visit.station.check, self._visit.operator.name)
            body.set_content(checks_html(checked.rows) if checked else "")
        except UserError as error:
            body.set_content(f"<p>{escape(str(error))}</p>")
        await dialog
        dispose(dialog)


def dispose(dialog: ui.dialog) -> None:
    """Remove a dialog that has ended, unless its page has gone meanwhile."""
    if not dialog.is_deleted:
        dialog.delete()


def close_button(dialog: ui.dialog) -> None:
    """Add the button that ends a dialog without an order. It has the focus."""
    with ui.element("button").classes("act").props('type="button" autofocus').on("click", dialog.close):
        ui.html("Close", sanitize=False, tag="span")


async def confirmed(title: str, question: str, warning: str) -> bool:
    """Ask in a dialog; return True if the order is confirmed. Cancel has the focus: a held Enter confirms nothing."""
    with ui.dialog() as dialog, ui.element("div").classes("ask").props('role="alertdialog" aria-labelledby="asked"'):
        ui.html(escape(title), sanitize=False, tag="h2").props('id="asked"')
        ui.html(escape(question), sanitize=False, tag="p")
        if warning:
            ui.html(badge(WARN, warning), sanitize=False, tag="p")
        with ui.element("div").classes("orders"):
            for label, result, style in (("Cancel", False, "act"), (title, True, "act main")):
                button = ui.element("button").classes(style).props('type="button"' + " autofocus" * (not result))
                with button.on("click", partial(dialog.submit, result)):
                    ui.html(escape(label), sanitize=False, tag="span")
    meant = await dialog
    dispose(dialog)
    return bool(meant)


def checks_html(rows: tuple[CheckRow, ...]) -> str:
    """Return the checks as a table, failures first, those that could not be made last."""
    levels = {False: (ERROR, "failed"), None: (WARN, "not seen"), True: (OK, "passed")}
    ranked = sorted(rows, key=lambda row: (False, True, None).index(row.ok))
    lines = "".join(
        f"<tr><td>{badge(*levels[row.ok])}</td><td><b>{escape(row.robot or 'team')}</b></td>"
        f"<td>{escape(row.check)}</td><td>{escape(row.why)}</td></tr>"
        for row in ranked
    )
    return f'<table class="checks"><tbody>{lines}</tbody></table>'
