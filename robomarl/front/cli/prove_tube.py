"""Option `--tube` of `robomarl prove`: attacks the certificate's tube, and bounds it where the delay is constant."""

import math
from typing import TYPE_CHECKING

from robomarl.core.types import Figures

if TYPE_CHECKING:
    from robomarl.lab.prove.theorem import Given
    from robomarl.lab.prove.tube_attack import TubeSearch


def tube_figures(given: "Given", search: "TubeSearch") -> Figures:
    """Attack the tube of a vehicle, try to prove it, print and return both; refuted means that the attack left it."""
    from tqdm import tqdm

    from robomarl.lab.prove.tube import prove_tube, smoothing_m
    from robomarl.lab.prove.tube_attack import farthest

    declared_m = given.figures.learned.radius_m
    with tqdm(total=search.generations, unit=" generation", desc="tube", leave=False) as bar:
        *axes, whole = farthest(given.params, given.figures, search, bar.update)
    proof, squash = prove_tube(given.params, given.figures), given.figures.squash
    alone = [one.off_m * share for one, share in zip(axes, squash, strict=False)]
    reached_m = max(whole.off_m, *alone) + smoothing_m(given.figures)
    print(f"  tube: declared {declared_m:.4f} m, reached by an attack {reached_m:.4f} m with what smoothing adds")
    for axis, one, bound_m in zip("xyz", axes, proof.bounds_m, strict=False):
        print(f"  tube along {axis}: reached {one.off_m:.4f} m, {_proved(bound_m)}")
    print(f"  tube, whole: {_proved(proof.radius_m)}{', so it is proved' if proof.holds else ''}")
    refuted = reached_m > declared_m
    if refuted:
        print(f"  NOT PROVEN: a robot leaves its tube by {reached_m - declared_m:.4f} m within the bounds of its file")
    return {
        "tube_declared_m": declared_m,
        "tube_reached_m": reached_m,
        "tube_proved_m": proof.radius_m if math.isfinite(proof.radius_m) else None,
        "tube_proved": proof.holds,
        "tube_refuted": refuted,
    }


def _proved(bound_m: float) -> str:
    """Return a bound in words."""
    return f"proved at most {bound_m:.4f} m" if math.isfinite(bound_m) else "no bound is proved"
