"""The safety campaign: teams with nominal commands that try to make robots collide.

It flies the realistic case of the safety study (50 Hz, delayed commands, bounded noise, 30 % of the
messages lost), on the numbers of a vehicle file: delay between half and all of the delay that the
filter assumes, constant or changing at each tick, noise, bias and gusts up to the assumed bounds,
messages lost one by one or in bursts, filters that restart in flight. Contacts are detected between
the samples as well. Everything is drawn; directed attacks are in `robomarl.lab.prove.worst`.

Episodes fly in batches, each with a seed of its own, so the figures depend neither on the
distribution of the batches over processes nor on interruptions and resumes.
"""

import math
import multiprocessing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from robomarl.core.config import build, to_dict
from robomarl.core.filter.filter import Arena, FilterCarry, SafetyFilter, from_vehicle
from robomarl.core.filter.give_way import GiveWay
from robomarl.core.filter.model.bodies import Strangers
from robomarl.core.filter.params import SafetyParams
from robomarl.core.hardware.sections import ASSUMED
from robomarl.core.hardware.vehicle import AnyVehicle
from robomarl.core.types import Figures
from robomarl.lab.certified import CertifiedTeam, in_order
from robomarl.lab.cluster.crew import crew, each
from robomarl.lab.evaluate.pilots import TeamGuard
from robomarl.lab.prove.campaign.adversary import Adversaries, KeepRight, Team, swap
from robomarl.lab.prove.campaign.conditions import Campaign, Plant, World, height_of
from robomarl.lab.prove.campaign.pursuit import Pursuit
from robomarl.lab.prove.campaign.score import Record, Tally, figures
from robomarl.lab.prove.ledger import Ledger
from robomarl.lab.trees import Tree

ROBOTS = 1024
"""Most robots that fly side by side."""
AROUND = "roundabout"
"""The task in which robots trade places on arcs; they need no rules against deadlock."""
ROOM_M = 1.0
"""Distance [m] from the ring to the walls."""


TrialMode = Literal["qp", "certificate", "textbook", "off"]


@dataclass(frozen=True)
class Trial:
    """A campaign with everything that its figures depend on."""

    campaign: Campaign
    vehicle: AnyVehicle
    period_s: float
    """Time between two decisions."""
    agent_steps: float
    """Minimum number of decisions."""
    mode: TrialMode = "qp"
    """Mode of the filter; with the certificate, robots are not restarted in flight."""
    seed: int = 0
    """Seed of everything that is drawn."""
    strangers: int = 0
    """Strangers that hunt each team; only with the certificate."""
    told: Strangers | None = None
    """Bounds of strangers that robots are told of; strangers use them up. None: there are no strangers."""

    @property
    def per_episode(self) -> int:
        """Decisions in an episode."""
        return self.campaign.count * round(self.campaign.seconds / self.period_s)

    @property
    def batches(self) -> list[int]:
        """Episodes of each batch."""
        episodes, most = math.ceil(self.agent_steps / self.per_episode), max(1, ROBOTS // self.campaign.count)
        return [min(most, episodes - done) for done in range(0, episodes, most)]


def prove(
    campaign: Campaign, vehicle: AnyVehicle, period_s: float, agent_steps: float, mode: TrialMode = "qp", seed: int = 0
) -> Figures:
    """Fly as many batches as that many decisions need, and sum up; see `Trial`.

    Returns:
        The figures, by the names of `robomarl prove --json`.
    """
    return run(Trial(campaign, vehicle, period_s, agent_steps, mode, seed))[0]


def run(
    trial: Trial,
    workers: int = 1,
    out: Path | None = None,
    resume: bool = False,
    progress: Callable[[int], object] | None = None,
) -> tuple[Figures, list[Record]]:
    """Fly a trial.

    Args:
        trial: the trial to fly.
        workers: processes, where there is no crew.
        out: folder to which each finished batch is written at once.
        resume: continue with the batches in the folder.
        progress: called with the number of additional agent-steps flown.

    Raises:
        UserError: the folder holds something else, or can't be written.
    """
    ledger = Ledger.open(out, to_dict(trial), resume) if out else None
    kept = ledger.records if ledger else {}
    done = {int(number): build(Record, plain, str(out)) for number, plain in kept.items()}
    tell = progress or (lambda _: None)
    tell(sum(record.steps for record in done.values()))
    for i, record in _flown([(trial, i) for i in range(len(trial.batches)) if i not in done], workers):
        done[i] = record
        if ledger:
            ledger.add(i, to_dict(record))
        tell(record.steps)
    records = [done[i] for i in sorted(done)]
    named = {"filter": trial.mode, "vehicle": trial.vehicle.name, "task": trial.campaign.task}
    named["estimator"] = trial.vehicle.estimator or ASSUMED
    return figures(records) | named, records


def _flown(todo: list[tuple[Trial, int]], workers: int) -> Iterator[tuple[int, Record]]:
    """The batches: of this process or a crew in their order, of several processes as they are finished."""
    if crew() or workers < 2 or len(todo) < 2:
        yield from each(fly_batch, todo, "prove")
        return
    with multiprocessing.get_context("spawn").Pool(min(workers, len(todo))) as pool:
        yield from pool.imap_unordered(fly_batch, todo)


def params_of(trial: Trial) -> SafetyParams:
    """Parameters of the robots' filters, with the walls of the campaign's room."""
    side = trial.campaign.far_m(from_vehicle(trial.vehicle, trial.period_s)) + ROOM_M
    arena = Arena((-side, -side, 0.1), (side, side, 2.4))
    params = from_vehicle(trial.vehicle, trial.period_s, arena, trial.campaign.count - 1)
    return replace(params, strangers=trial.told) if trial.strangers else params


def fly_batch(job: tuple[Trial, int]) -> tuple[int, Record]:
    """Fly one batch of a trial: its number, and its counts."""
    trial, number = job
    params = params_of(trial)
    random = np.random.default_rng([trial.seed, number])
    tally = fly(trial, _guard(trial, params), trial.batches[number], random)
    return number, tally.record(number)


def _guard(trial: Trial, params: SafetyParams) -> TeamGuard:
    if trial.mode == "certificate":
        return CertifiedTeam(params, trial.vehicle.body.radius_m, in_order)
    return SafetyFilter(params, trial.mode)


def fly(
    trial: Trial,
    safety: TeamGuard,
    episodes: int,
    random: np.random.Generator,
    plant: Plant | None = None,
) -> Tally:
    """Fly episodes side by side.

    Args:
        trial: conditions of the robots; the vehicle's radius defines a contact.
        safety: the filter.
        episodes: number of episodes.
        random: source of everything that is drawn.
        plant: the robots; see `World.step`.
    """
    campaign, params = trial.campaign, safety.params
    world = World(campaign, params, episodes, random)
    lead = world.team.pos.shape[:2]
    adversaries = Adversaries(params, lead, height_of(params), random, campaign.kinds)
    around = KeepRight(params, lead, campaign.ring_m(params))
    carry = safety.init(lead)
    rules = GiveWay(params)
    way = rules.init(np.zeros(lead))
    tally = Tally(trial.vehicle.body.radius_m, params, world.team)
    pursuit = _pursuit(trial, world, safety)
    for step in range(round(campaign.seconds / params.period_s)):
        view = pursuit.sees(world.view(), world, step) if pursuit else world.view()
        hunt = campaign.task == "adversarial"
        if hunt:
            accel = adversaries(world.points, random)
            accel = pursuit.lures(world, accel) if pursuit else accel
        else:
            accel = around(_seen_points(world)) if campaign.task == AROUND else swap(params, _seen_points(world))
        nominal = np.concatenate([accel, np.zeros((*lead, 1))], -1)
        if campaign.detour and not hunt and campaign.task != AROUND:
            way, nominal = rules(way, view, nominal)
        gain = hostile_gains(params, lead, random) if campaign.gains == "hostile" else None
        if isinstance(safety, SafetyFilter):
            carry = _restarted(campaign, safety, carry, random)
        carry, result = safety(carry, view, nominal, gain)
        way = rules.after(way, result)
        path = world.step(result.command[..., :3], carry.plan, plant)
        tally.add(result, path, world.team, world.points)
        if pursuit:
            tally.reached = pursuit.follow(carry, path, world, step)
    return tally


def _pursuit(trial: Trial, world: World, guard: TeamGuard) -> Pursuit | None:
    """Strangers of a trial that has some; robots behind another guard than the certificate are not told of any."""
    if not trial.strangers or trial.told is None or not isinstance(guard, CertifiedTeam):
        return None
    return Pursuit(trial.told, trial.strangers, world, guard)


def hostile_gains(params: SafetyParams, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Draw gains [...] [1/s] that exploit a policy's freedom: they jump between the ends of its range and within it."""
    return params.safety.gain_per_s * np.clip(random.uniform(-1.0, 2.0, shape), 0.0, 1.0)


def _restarted(
    campaign: Campaign, safety: SafetyFilter, carry: FilterCarry, random: np.random.Generator
) -> FilterCarry:
    """Restart the filter memory of some robots; the commands already sent stay known."""
    if not campaign.restart_every_s:
        return carry
    lead = carry.ok.shape
    anew = random.random(lead) < safety.params.period_s / campaign.restart_every_s
    return pick(anew, safety.init(lead)._replace(commands=carry.commands), carry)


def pick(mask: np.ndarray, yes: Tree, no: Tree) -> Tree:
    """`yes` where the mask [...] says so, through nested tuples of arrays [..., any]."""
    if isinstance(yes, tuple):
        return type(yes)(*(pick(mask, a, b) for a, b in zip(yes, no, strict=True)))
    yes, no = np.asarray(yes), np.asarray(no)
    return np.where(mask.reshape(mask.shape + (1,) * (yes.ndim - mask.ndim)), yes, no)


def _seen_points(world: World) -> Team:
    return world.drives.points(world.seen) if world.drives else world.seen
