"""`Certificate.step` in C: equal to numpy's to 1e-9, for one robot in a tenth of the time."""

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from robomarl.core.certificate import certificate, course, reference, rule, state_box, tracker
from robomarl.core.certificate.certificate import Certificate
from robomarl.core.certificate.course import CommittedCourse
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.memory import Certified, CertifiedCarry, DecisionInputs
from robomarl.core.certificate.pact import Pact, Word
from robomarl.core.certificate.rule import Pair
from robomarl.core.certificate.state_box import StateBox
from robomarl.core.config import UserError
from robomarl.core.filter import kernel
from robomarl.core.filter.decision import Library
from robomarl.core.filter.kernel.layout import copied
from robomarl.core.filter.kernel.library import CPointer
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.model.strangers import Strangers, strangers_in
from robomarl.core.filter.params import SafetyParams
from robomarl.core.filter.qp.projection import project_rows
from robomarl.core.tree import Tree, leaves, new_tuple
from robomarl.core.types import SENT, Array
from robomarl.core.view import Own, Plan

MOST_TIMES = 32
"""`RM_MOST_TIMES` of `kernel.h`: more times than these are not compared."""
_KINDS = {"f": (0, np.dtype(float)), "i": (1, np.dtype(np.int64)), "b": (2, np.dtype(bool))}
_NO_MORE = (3, 0, 0, 0)
_NUMPY = Library(np, project_rows)
Parts = Sequence[Array]


class _Layout(NamedTuple):
    """Records of one robot, as `rm_certify` takes them."""

    around: CPointer
    """Numbers of teammates and strangers, and whether the policy sets a gain."""
    memory: np.dtype[np.void]
    given: np.dtype[np.void]
    found: np.dtype[np.void]
    parts: tuple[Callable[[np.ndarray], Parts], Callable[[np.ndarray], Parts]]
    """Functions that return the arrays of the memory and of the outcome, in their order."""
    plain: tuple[object, ...]
    """First arguments of `Kernel.certify`."""
    kept: CPointer
    """Memory that its addresses are of."""


def certificate_of(params: SafetyParams, figures: CertificateFigures) -> Certificate:
    """Return the certificate in C or, where that can't be used, in numpy: then its `note` says why."""
    try:
        return KernelCertificate(params, figures)
    except UserError as error:
        found = Certificate(params, figures, _NUMPY)
        found.note = str(error)
        return found


class KernelCertificate(Certificate):
    """The certificate of one type of vehicle, in C."""

    def __init__(self, params: SafetyParams, figures: CertificateFigures) -> None:
        """Copy the numbers.

        Raises:
            UserError: the kernel can't be used here, or compares fewer times than the figures ask for.
        """
        super().__init__(params, figures, _NUMPY)
        self._c = kernel.load()
        if figures.segments + 2 > MOST_TIMES:
            raise UserError(
                f"period_s = {figures.period_s:g} is too long for the certificate in C; it needs 0.65 or less."
            )
        ffi, (front, *kept) = self._c.ffi, copied(self._c.ffi, constants_of(figures.front))
        moved, *others = copied(ffi, figures.tracker)
        given = {"tracker": moved, "front": front, "queue": params.queue_length}
        parts = {"learned": vars(figures.learned), "unlearned": vars(figures.unlearned), "told": _told(figures)}
        parts["tether"] = vars(figures.tether) if figures.tether else {}
        names = [name for name, _ in ffi.typeof("RmCertificate").fields if name not in given | parts]
        self._struct = ffi.new("RmCertificate *", given | parts | {name: _number(figures, name) for name in names})
        self._kept, self._layouts = (front, moved, kept, others), dict[tuple[int, int, bool], _Layout]()

    def step(self, carry: CertifiedCarry, given: DecisionInputs) -> tuple[CertifiedCarry, Certified]:
        """Decide once; see `Certificate.step`."""
        view, *others = given
        *lead, mates = given.leads.shape
        seen = strangers_in(self._front, view) if view.sensed or self.params.strangers else None
        around = mates, seen.mask.shape[-1] if seen else 0, np.shape(given.nominal)[-1] > SENT
        told = seen if seen and around[1] else ()
        lay, asked = self._layouts.get(around) or self._laid_out(*around), (view.own, *others, told)
        count = math.prod(lead)
        memory, found = (np.empty(count * kind.itemsize // 8) for kind in (lay.memory, lay.found))
        if lead or not self._c.certify(lay.plain, carry, asked, memory, found):
            self._decide_many(lay, (carry, asked), (memory, found), lead)
        after, told = (np.ndarray(lead, *pair) for pair in ((lay.memory, memory), (lay.found, found)))
        return _outcome(lay.parts[0](after), lay.parts[1](told))

    def _decide_many(
        self, lay: _Layout, trees: tuple[Tree, Tree], to: tuple[np.ndarray, np.ndarray], lead: list[int]
    ) -> None:
        """Decide for many robots, or for one robot with arrays of another layout."""
        memory, given = np.ndarray(lead, lay.memory, to[0]), np.empty(lead, lay.given)
        for block, tree in zip((memory, given), trees, strict=True):
            for name, leaf in leaves(tree):
                block[name] = leaf
        room = np.empty(self._c.lib.rm_certify_room(self._struct, lay.around))
        arrays = (self._c.ffi.from_buffer("char[]", array) for array in (to[0], given, to[1]))
        place = self._c.ffi.from_buffer("double[]", room)
        self._c.lib.rm_certify(math.prod(lead), self._struct, lay.around, *arrays, place)

    def _laid_out(self, mates: int, strangers: int = 0, is_gained: bool = False) -> _Layout:
        carry = self.init(np.zeros(3), mates, np.zeros(()))
        word = self.said(carry, none := np.zeros(mates, bool))
        own = Own(np.zeros(3), np.zeros(4), np.zeros(3), np.zeros(3), np.zeros(()))
        one, row, zero, ages = np.zeros(()), np.zeros(SENT), np.zeros(3), np.zeros(strangers)
        places, wish = np.zeros((strangers, 3)), np.zeros(SENT + is_gained)
        seen = Strangers(ages > 0, places, places, ages) if strangers else ()
        trees = carry, (own, word, none, none, wish, one, seen)
        told = (row, word.course, word.number, word.offered, one > 0, one > 0, zero, zero)
        memory, given, found = (_record(tree) for tree in (*trees, told))
        lies = [number for tree in trees for leaf in (*_lying(tree), _NO_MORE) for number in leaf]
        ffi, (numbers, whole, flags) = self._c.ffi, (kind for _, kind in _KINDS.values())
        kept = ffi.new("int[]", lies)
        addresses = [int(ffi.cast("size_t", pointer)) for pointer in (self._struct, kept)]
        key, size = (mates, strangers, is_gained), given.itemsize // 8
        plain = (addresses[0], numbers, np.dtype(np.float32), flags, "dtype", whole, addresses[1], *map(int, key), size)
        parts = itemgetter(*(memory.names or ())), itemgetter(*(found.names or ()))
        around = ffi.new("RmAround *", key)
        self._layouts[key] = _Layout(around, memory, given, found, parts, plain, kept)
        return self._layouts[key]


def _told(figures: CertificateFigures) -> dict[str, float]:
    """Return the bounds of strangers by the names of `RmTold`, none where the robot is told of no strangers."""
    told = figures.front.strangers
    names = ("speed_m_s", "velocity_error_m_s", "accel_m_s2")
    return {name: getattr(told, name) for name in names} if told else {}


def _number(figures: CertificateFigures, name: str) -> object:
    """A number of the vehicle, or a constant of this folder."""
    for module in (certificate, course, reference, rule, state_box, tracker):
        if name.upper() in vars(module):
            return getattr(module, name.upper())
    return getattr(figures, name)


def _record(tree: Tree) -> np.dtype[np.void]:
    """Type of a record with the arrays of one robot, in order, aligned as in C."""
    fields = [(name, _KINDS[np.asarray(leaf).dtype.kind][1], np.shape(leaf)) for name, leaf in leaves(tree)]
    return np.dtype(fields, align=True)


def _lying(tree: Tree) -> list[tuple[int, int, int, int]]:
    """Kind, number of axes and two lengths of each array."""
    shapes = [(_KINDS[np.asarray(leaf).dtype.kind][0], np.shape(leaf)) for _, leaf in leaves(tree)]
    sizes = [(kind, len(shape), (*shape, 1, 1)) for kind, shape in shapes]
    return [(kind, axes, size[0], size[1]) for kind, axes, size in sizes]


def _outcome(memory: Parts, found: Parts) -> tuple[CertifiedCarry, Certified]:
    """Return the next memory and the outcome, made of arrays in their order."""

    def courses(parts: Parts, at: int) -> CommittedCourse:
        return new_tuple(CommittedCourse, parts[at : at + 5])

    agreed, offer = (new_tuple(Pair, (courses(memory, at), courses(memory, at + 5))) for at in (10, 21))
    number, offered, is_open, refused = memory[9], memory[20], memory[31], memory[32]
    pact = new_tuple(Pact, (number, agreed, offered, offer, is_open, refused))
    bias, learned = (new_tuple(Bias, memory[at : at + 7]) for at in (34, 55))
    box, plan = new_tuple(StateBox, memory[41:50]), new_tuple(Plan, memory[51:54])
    front = new_tuple(FilterCarry, (memory[50], plan, memory[54], learned, memory[62]))
    carry = new_tuple(CertifiedCarry, (courses(memory, 0), *memory[5:9], pact, memory[33], bias, box, front))
    word = new_tuple(Word, (courses(found, 1), found[6], found[7], offer, refused))
    return carry, new_tuple(Certified, (found[0], word, found[8], found[9], found[10], memory[6], found[11]))
