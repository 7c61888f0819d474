"""Put all reports below a folder on one page, newest first: demos, training runs, replays, safety campaigns."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from robomarl.core.config import UserError
from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl reports`."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="[DIR]")] = Path("runs")
    """Folder with reports, at any depth."""
    open: bool = False
    """Open the page in a web browser."""


def run(args: Args) -> Figures:
    """Write DIR/index.html, and print its address and a line for each report.

    Raises:
        UserError: there is no report, or the page can't be written.
    """
    from robomarl.front.report.index import INDEX, find_reports, index_page

    reports = find_reports(args.folder)
    if not reports:
        raise UserError(f"{args.folder}: has no reports; name another DIR, or run: robomarl demo")
    file = args.folder / INDEX
    try:
        file.write_text(index_page(reports, args.folder))
    except OSError as error:
        raise UserError(f"{file}: can't be written ({error.strerror}); make the folder writable.") from None
    for report in reports:
        print(f"{report.date}  {report.kind:<16}{report.file}\n{'':18}{report.verdict}")
    address = file.resolve().as_uri()
    print(f"\npage of all: {address}")
    if args.open:
        import webbrowser

        webbrowser.open(address)
    return {"page": str(file), "address": address, "reports": [report.figures for report in reports]}
