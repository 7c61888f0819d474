"""The inequalities of the certificate for pairs: robots of unlike vehicles, and a radio that has a range.

`theorem` has those of one vehicle.
"""

# pyright: reportOperatorIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false
# z3 declares every result as a union of all its kinds of terms.

import math
from collections.abc import Iterator, Mapping
from itertools import permutations

import z3

from robomarl.core.certificate.figures import (
    CLOCK_OFFSET_S,
    TUBE_SHARE,
    WHOLE,
    CertificateFigures,
    common_of,
    figures_of,
)
from robomarl.core.certificate.reach import MESSAGES, ON_AIR_S, RadioReach
from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError
from robomarl.core.filter.params import SafetyParams
from robomarl.lab.prove.theorem import (
    AXES,
    ROUNDING,
    Claim,
    Given,
    at_least,
    check_theorem,
    exact,
    is_proved,
    same,
)


def fleet_of(
    vehicles: Mapping[str, tuple[SafetyParams, float]], reach: RadioReach | None = None, tether: Tether | None = None
) -> dict[str, Given]:
    """Return what is checked of a fleet, by the names of its vehicles: safety parameters and body radius of each.

    `reach`: stated range of the radio; `tether`: of robots that carry a load together.

    Raises:
        UserError: such vehicles do not fly a certificate together; says why.
    """
    common = common_of(list(vehicles.values())) if len(vehicles) > 1 else None
    return {
        name: Given(params, radius_m, figures_of(params, radius_m, common, tether), common, reach)
        for name, (params, radius_m) in vehicles.items()
    }


def check_fleet(fleet: Mapping[str, Given]) -> tuple[Claim, ...]:
    """The claims of every vehicle and of every pair of unlike ones, by their names.

    Raises:
        UserError: one does not hold; says which, and by how much.
    """
    found = [claim for name, given in fleet.items() for claim in check_theorem(given, name)]
    pairs = [(name, name, radio_claims(given, given)) for name, given in fleet.items()]
    pairs += [(name, other, beside(one, mate)) for (name, one), (other, mate) in permutations(fleet.items(), 2)]
    for name, other, claims in pairs:
        for claim in claims:
            if not claim.holds:
                both, by = f"{name}.yaml beside {other}.yaml", f"{-claim.slack:.3g}"
                raise UserError(f"{both}: the certificate's {claim.name} fails by {by}: {claim.text}.")
            found.append(claim)
    return tuple(found)


def beside(one: Given, mate: Given) -> Iterator[Claim]:
    """Claims of the proof for a robot beside a teammate of another vehicle; the other order has claims of its own."""
    f, g, step = one.figures, mate.figures, (one.figures.span_s - one.figures.period_s) / one.figures.segments
    for axis in range(3):
        yield same(f"common metric along {AXES[axis]}", f.squash[axis], g.squash[axis], "", "its teammate")
    yield same("common period", f.period_s, g.period_s, "s", "its teammate")
    yield same("common time to stop", f.stop_s, g.stop_s, "s", "its teammate")
    parts = {
        "bodies": one.radius_m + mate.radius_m,
        "look-ahead": one.params.look_ahead_m + mate.params.look_ahead_m,
        "tubes": f.learned.radius_m + g.learned.radius_m,
        "clocks": max(f.speed_m_s, g.speed_m_s) * CLOCK_OFFSET_S,
    }
    yield at_least("distance of unlike robots", f.learned.room_m + g.learned.room_m, parts, "m")
    brake, theirs, most = max(f.accel_m_s2), max(g.accel_m_s2), math.hypot(*f.accel_m_s2)
    arcs = {"own arcs": 3 * brake * step**2 / 8, "teammate's": theirs * step**2 / 8}
    yield at_least("bend beside an unlike robot", f.bend_m, arcs, "m")
    first = {"own arcs": (2 * most + brake) * f.period_s**2 / 8, "teammate's": theirs * f.period_s**2 / 8}
    yield at_least("bend of the first period beside an unlike robot", f.bend_m, first, "m")
    yield from _handover(f, g)
    yield from radio_claims(one, mate)


def radio_claims(one: Given, mate: Given) -> Iterator[Claim]:
    """Two robots that forgot each other are at rest, apart, before they come nearer than references may be.

    One forgets the other when it has heard nothing for the stated time; at some moment of that they were as far apart
    as the range. The other one may not know that for as long again, and until words are said that were held back, with
    the first decision after that. From then on both brake. Words wait in the inbox: at the end of both silences, and
    before the brake.
    """
    if (reach := one.reach) is None:
        return
    yield _messages(one.figures, reach)
    far, forgets, knows, rests = map(z3.Real, ("far", "forgets", "knows", "rests"))
    f, g, both = one.figures, mate.figures, (one.figures, mate.figures)
    speed = exact(f.speed_m_s) + exact(g.speed_m_s)
    held_s = max(x.held_s + x.period_s if x.held_back else 0.0 for x in both)
    clock, held = exact(CLOCK_OFFSET_S), exact(held_s)
    silence = exact(reach.within_s) + clock
    ratio = 1.0 if one.params.planar else one.ratio
    apart = exact((f.unlearned.room_m + g.unlearned.room_m + max(f.bend_m, g.bend_m)) * ratio)
    beside = [TUBE_SHARE * math.hypot(*x.figures.unlearned.half_m) + x.params.look_ahead_m for x in (one, mate)]
    smooth = [math.hypot(*x.accel_m_s2) * (x.smooth_count**2 - 1) * x.period_s**2 / 24 for x in both]
    stops = [x.speed_m_s * (x.period_s + x.lead_s + x.stop_s / 2) for x in both]
    hypotheses = [
        far >= exact(reach.range_m) - z3.Sum([exact(part) for part in (*beside, *smooth)]),
        forgets >= far - speed * silence,
        knows >= forgets - speed * (silence + held),
        rests >= knows - speed * clock - z3.Sum([exact(part) for part in stops]),
    ]
    gone = (f.speed_m_s + g.speed_m_s) * (2 * reach.within_s + 3 * CLOCK_OFFSET_S + held_s) + sum(stops)
    kept = (f.unlearned.room_m + g.unlearned.room_m + max(f.bend_m, g.bend_m)) * ratio
    slack = reach.range_m - sum(beside) - sum(smooth) - gone - kept
    text = (
        f"range {reach.range_m:.4g} m >= D {kept:.4g} + tubes {sum(beside) + sum(smooth):.4g} + on the way {gone:.4g}"
    )
    yield Claim("radio range", is_proved(hypotheses, rests >= apart - z3.RealVal(str(ROUNDING))), slack, text)


def _messages(f: CertificateFigures, reach: RadioReach) -> Claim:
    """Of the messages that a robot says in the time of silence, as many as `MESSAGES` are read in it.

    The first is said at most one message's time after the silence begins, the others come one by one. The last one is
    on its way, waits in the inbox, and is read with a decision.
    """
    begins, first, last, heard, read = map(z3.Real, ("begins", "first", "last", "heard", "read"))
    every_s = max(reach.every_s, f.period_s)
    hypotheses = [
        first <= begins + exact(every_s),
        last <= first + exact((MESSAGES - 1) * every_s),
        heard <= last + exact(ON_AIR_S) + exact(CLOCK_OFFSET_S),
        read <= heard + exact(f.period_s),
    ]
    need_s = MESSAGES * every_s + ON_AIR_S + CLOCK_OFFSET_S + f.period_s
    text = f"silence {reach.within_s:.4g} s >= {MESSAGES} messages every {every_s:.4g} s, air, inbox {need_s:.4g} s"
    proved = is_proved(hypotheses, read <= begins + exact(reach.within_s) + z3.RealVal(str(ROUNDING)))
    return Claim("radio messages", proved, reach.within_s - need_s, text)


def _handover(f: CertificateFigures, g: CertificateFigures) -> Iterator[Claim]:
    """A robot's new anchors count before its teammate's reference relies on them.

    The robot changes its anchors by a decision: for its reference that counts one lead later. The teammate hears of it
    after the words were held back, and what it then decides counts one lead of its own later.
    """
    changes, says, hears = map(z3.Real, ("changes", "says", "hears"))
    words = [says >= changes + exact(f.held_s), hears >= says]
    counts, relies = changes + exact(f.lead_s), hears + exact(g.lead_s) + exact(WHOLE * f.period_s)
    slack = f.held_s + g.lead_s - f.lead_s
    text = f"held back {f.held_s:.4g} s >= lead {f.lead_s:.4g} s - lead of the teammate {g.lead_s:.4g} s"
    yield Claim("handover of anchors", is_proved(words, relies >= counts), slack, text)
