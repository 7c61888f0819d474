"""Result rows of `robomarl eval` for teams that play."""

from robomarl.domains.soccer.lab.evaluation.evaluate import GameConfig, evaluate_game
from robomarl.lab.evaluate.evaluation import EvalRow
from robomarl.lab.simulation import RowOptions


def play_row(name: str, options: RowOptions, is_first: bool) -> EvalRow:
    """Play the matches and set pieces of the team of that name; the first one's first match is drawn.

    Raises:
        UserError: no such team, scenario, engine or parameter.
    """
    video, perturb = options.video if is_first else None, tuple(options.perturb)
    config = GameConfig(options.sim, options.episodes, options.seed, options.against, perturb, video, options.filter)
    return EvalRow(evaluate_game(name, options.scenario, config))
