"""The page of a league: payoff matrix, ratings, Nash mixture, best responses, and films of the most telling matches."""

from pathlib import Path

from robomarl.core.types import Figures
from robomarl.front.report.page import Section, Tile, empty, figure, grid, interactive, page, picture, table, write_page
from robomarl.front.report.plots.league import LABELS, Chart, ScoreInterval, estimates, payoff_matrix
from robomarl.front.report.plots.style import to_inline_svg

PAGE, FILMS = "league.html", "films"
LEAST = 0.01
"""Least weight of a player that counts as one of the mixture."""


def write_league_page(figures: Figures, out: Path) -> Path:
    """Write `league.html`.

    Args:
        figures: content of `league.json`.
        out: folder of the league.
    """
    names = short_names([row["player"] for row in figures["players"]])
    best, mixture = figures["players"][0], figures["mixture"]
    in_use = sum(row["nash"] > LEAST for row in figures["players"])
    tiles = [
        Tile("Best", names[best["player"]], f"Elo {best['elo']:.0f}"),
        Tile("Players", f"{len(names)}", f"{len(figures['pairs'])} pairs, {figures['matches']} matches each"),
        Tile("In the mixture", f"{in_use}", "players of the Nash mixture"),
        Tile("Its exploitability", f"{mixture['exploitability']:.3f}", "in the other half of the matches"),
    ]
    sections = [
        Section("Payoff matrix", _matrix(figures, names), MATRIX_LEAD),
        Section("Ratings", _ratings(figures, names), RATINGS_LEAD),
        Section("Players", _players(figures, names), PLAYERS_LEAD),
        *_rounds(figures, names),
        *_responses(figures, names),
        Section("Telling matches", _films(figures, names, out), FILMS_LEAD),
    ]
    by = f"{figures['sim']} engine, filter {figures['filter']}, seed {figures['seed']}"
    file = out / PAGE
    write_page(page(f"League of {figures['scenario']}", by, _verdict(figures, names), tiles, sections), file)
    return file


MATRIX_LEAD = (
    "Mean score of the row's player against the column's: a win counts 1, a draw 1/2. Each player has either side in "
    "half of the matches."
)
RATINGS_LEAD = (
    "Elo by maximum likelihood over all matches, mean 1000. The Nash mixture chooses among players so that none of "
    "them scores above 1/2 against it."
)
PLAYERS_LEAD = (
    "Exploitability: how much above 1/2 the best of the other players scores against this one, with the 95 % interval "
    "of that pair."
)
FILMS_LEAD = "The last point of the winner, or the last seconds of a match without points. Our side is named first."
ROUNDS_LEAD = (
    "In each round a team learns against the Nash mixture of all players, and joins them (PSRO). A score above 1/2 "
    "says that the players before it can be exploited."
)
RESPONSES_LEAD = (
    "Attackers that learned against one fixed player only. Their score says how far that player can be exploited by "
    "this budget; a larger one may find more."
)


def short_names(names: list[str]) -> dict[str, str]:
    """Return names of folders by their last part, as far as the names stay different."""
    last = {name: _last(Path(name)) for name in names}
    return last if len(set(last.values())) == len(names) else {name: name for name in names}


def _last(path: Path) -> str:
    """Return the name of a folder, or of a state with its run's."""
    return f"{path.parent.name}/{path.stem}" if path.suffix == ".npz" else path.name


def _verdict(figures: Figures, names: dict[str, str]) -> str:
    first, second = figures["players"][:2]
    apart = first["elo_ci95"][0] > second["elo_ci95"][1]
    said = f"{names[first['player']]} is rated best"
    return f"{said}, apart from all others." if apart else f"{said}, within the interval of {names[second['player']]}."


def _chart(chart: Chart, title: str) -> str:
    key = "".join(c if c.isalnum() else "-" for c in title.lower())
    return figure(interactive(to_inline_svg(chart.still, title, key), chart.live))


def _matrix(figures: Figures, names: dict[str, str]) -> str:
    place = {row["player"]: i for i, row in enumerate(figures["players"])}
    cells = {}
    for row in figures["pairs"]:
        i, j = place[row["first"]], place[row["second"]]
        low, high = row["score_ci95"]
        cells[i, j] = ScoreInterval(row["score"], low, high)
        cells[j, i] = ScoreInterval(1 - row["score"], 1 - high, 1 - low)
    return _chart(payoff_matrix([*names.values()], cells), "Payoff matrix")


def _ratings(figures: Figures, names: dict[str, str]) -> str:
    shown = []
    for key, label in LABELS.items():
        values = [ScoreInterval(row[key], *row[f"{key}_ci95"]) for row in figures["players"]]
        shown.append(_chart(estimates([*names.values()], values, label), label))
    return grid(shown)


def _players(figures: Figures, names: dict[str, str]) -> str:
    head = ["player", "kind", "Elo [95 %]", "mean score", "Nash weight", "exploitability [95 %]", "by"]
    rows = []
    for row in figures["players"]:
        low, high = row["elo_ci95"]
        loss = row["exploitability"]
        limits = [f"{limit:.3f}".replace("-", "\N{MINUS SIGN}") for limit in loss["ci95"] or ()]
        interval = f" [{', '.join(limits)}]" if limits else ""
        rows.append(
            [
                names[row["player"]],
                row["kind"],
                f"{row['elo']:.0f} [{low:.0f}, {high:.0f}]",
                f"{row['score']:.3f}",
                f"{row['nash']:.2f}",
                f"{loss['score']:.3f}{interval}",
                names[loss["by"]] if loss["by"] else None,
            ]
        )
    return table(head, rows)


def _rounds(figures: Figures, names: dict[str, str]) -> list[Section]:
    """Teams that were trained against the mixture, if any were."""
    rows = []
    for number, played in enumerate(figures["psro"], 1):
        shares = sorted(played["mixture"].items(), key=lambda item: -item[1])
        mixture = ", ".join(f"{names[name]} {share:.2f}" for name, share in shares if share > LEAST)
        for row in played["responses"]:
            low, high = row["score_ci95"]
            score = f"{row['score']:.3f} [{low:.3f}, {high:.3f}]"
            began = names.get(row["began_as"], row["began_as"])
            rows.append([number, names[row["player"]], mixture, began, f"{row['steps']:,}", score])
    head = ["round", "player", "mixture before it", "began as", "agent-steps", "score against that mixture [95 %]"]
    return [Section("Rounds of best responses", table(head, rows), ROUNDS_LEAD)] if rows else []


def _responses(figures: Figures, names: dict[str, str]) -> list[Section]:
    """Best responses, if any were trained."""
    head = ["player", "agent-steps", "attackers", "began as", "score of the best [95 %]", "exploitability [95 %]"]
    rows = []
    for row in figures["best_response"]:
        low, high = row["score_ci95"]
        least, most = row["exploitability_ci95"]
        rows.append(
            [
                names[row["player"]],
                f"{row['steps']:,}",
                row["attackers"],
                names.get(row["began_as"], row["began_as"]),
                f"{row['score']:.3f} [{low:.3f}, {high:.3f}]",
                f"{row['exploitability']:.3f} [{least:.3f}, {most:.3f}]",
            ]
        )
    return [Section("Best responses", table(head, rows), RESPONSES_LEAD)] if rows else []


def _films(figures: Figures, names: dict[str, str], out: Path) -> str:
    shown = []
    for row in figures["telling"]:
        first, second = names[row["first"]], names[row["second"]]
        title = f"{first} {row['points_for']} : {row['points_against']} {second}"
        shown.append(picture(out / FILMS / row["film"], row["why"].capitalize() + ".", title))
    return grid(shown) if shown else empty("No films were asked for.")
