"""`OperatorPage`: the page of one operator, drawn anew from the newest snapshot."""

from functools import partial
from html import escape

from nicegui import ui

from robomarl.front.operate.cards import card_html
from robomarl.front.operate.log_table import log_html
from robomarl.front.operate.map_panel import MapPanel
from robomarl.front.operate.map_picture import hex_of
from robomarl.front.operate.operators import Operators
from robomarl.front.operate.order_panel import OrderPanel
from robomarl.front.operate.visit import Visit
from robomarl.front.operate.words import mark_of
from robomarl.ros.desk.member import TeamMember

UPDATE_S = 0.1
STOP_TEXT = "E-STOP<small>Shift + Space</small>"
STOPPED_TEXT = "E-STOP IS PRESSED<small>Reset releases it</small>"


class OperatorPage:
    """Bar with the E-stop, field, orders, team, log."""

    def __init__(self, visit: Visit, operators: Operators, page: str) -> None:
        """Draw the page into the open client.

        Args:
            visit: its operator and choices.
            operators: everyone at a page.
            page: identifier of the page's connection.
        """
        self._visit, self._operators, self._page = visit, operators, page
        self._serious_only = False
        self._log_shown: tuple[int, bool] = (-1, False)
        ui.html("", sanitize=False).props('id="banner" role="alert" hidden')
        self._bar()
        with ui.element("main").classes("field"):
            with ui.element("div").classes("stack"):
                self._map = MapPanel(visit)
                self._events()
            with ui.element("div").classes("stack"):
                self._orders = OrderPanel(visit)
                self._team()
        ui.timer(UPDATE_S, self.update)

    def update(self) -> None:
        """Show the newest snapshot; the library sends only what changed."""
        snapshot = self._visit.station.snapshot
        pressed = snapshot.report.pressed
        self._stop.props(f'aria-pressed="{"true" if pressed else "false"}"')
        self._stop_text.set_content(STOPPED_TEXT if pressed else STOP_TEXT)
        self._summary.set_content(summary(snapshot.report.members))
        self._people.set_content(self._people_text())
        for member in snapshot.report.members:
            self._update_card(member)
        self._map.update()
        self._orders.update()
        if (shown := (snapshot.log_changes, self._serious_only)) != self._log_shown:
            self._log_shown = shown
            self._log.set_content(log_html(snapshot.rows, self._serious_only))

    def _bar(self) -> None:
        with ui.element("header").classes("bar"):
            with ui.element("button").props('id="estop" type="button" aria-keyshortcuts="Shift+Space"') as self._stop:
                self._stop_text = ui.html(STOP_TEXT, sanitize=False, tag="span")
            with ui.element("div"):
                ui.html(escape(self._visit.station.fleet.name), sanitize=False, tag="h1")
                self._summary = ui.html("", sanitize=False, tag="p").props('role="status"')
            self._people = ui.html("", sanitize=False, tag="p").classes("people").props('aria-live="polite"')

    def _people_text(self) -> str:
        others = [
            f"<b>{escape(other.name)}</b>{f' asks: {escape(other.doing)}' if other.doing else ''}"
            for other in self._operators.others(self._page)
        ]
        return f"You are <b>{escape(self._visit.operator.name)}</b><br>Also here: {', '.join(others) or 'nobody'}"

    def _team(self) -> None:
        station = self._visit.station
        self._cards: dict[str, tuple[ui.element, ui.element, ui.html]] = {}
        with ui.element("section").classes("panel").props('aria-label="Team"'):
            ui.html("Team", sanitize=False, tag="h2")
            with ui.element("div").classes("cards"):
                for index, member in enumerate(station.snapshot.report.members):
                    self._cards[member.name] = self._card(index, member)

    def _card(self, index: int, member: TeamMember) -> tuple[ui.element, ui.element, ui.html]:
        with ui.element("article").classes("card") as card:
            name = self._name(index, member)
            body = ui.html("", sanitize=False)
        return card, name, body

    def _name(self, index: int, member: TeamMember) -> ui.element:
        """Draw the name of a member; that of a robot selects it."""
        robot = member.kind == "robot"
        with ui.element("button" if robot else "div").classes("name") as name:
            if robot:
                name.props('type="button"').on("click", partial(self._visit.select, index))
                colour = hex_of(self._visit.station.scene.colours[index])
                ui.element("span").classes("swatch").style(f"background: {colour}").props('aria-hidden="true"')
            ui.html(escape(member.name), sanitize=False, tag="span")
        return name

    def _update_card(self, member: TeamMember) -> None:
        card, name, body = self._cards[member.name]
        body.set_content(card_html(member))
        selected = self._visit.target == member.name
        style = f"card {mark_of(member.level).style}" + " selected" * selected
        card.classes(replace=style)
        if member.kind == "robot":
            name.props(f'aria-pressed="{"true" if selected else "false"}"')

    def _events(self) -> None:
        with ui.element("section").classes("panel events-panel").props('aria-label="Events"'):
            with ui.element("div").classes("orders"):
                ui.html("Events", sanitize=False, tag="h2").style("flex: 1")
                with ui.element("button").classes("act").props('type="button" aria-pressed="false"') as only:
                    ui.html("Warnings and errors only", sanitize=False, tag="span")
                only.on("click", partial(self._filter, only))
            self._log = ui.html("", sanitize=False).props('role="log"')

    def _filter(self, button: ui.element) -> None:
        self._serious_only = not self._serious_only
        button.props(f'aria-pressed="{"true" if self._serious_only else "false"}"')
        self.update()


def summary(members: tuple[TeamMember, ...]) -> str:
    """Return how many robots are in which state."""
    words = [member.word for member in members if member.kind == "robot"]
    return ", ".join(f"<b>{words.count(word)}</b> {escape(word)}" for word in dict.fromkeys(words))
