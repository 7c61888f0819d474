"""`import_perception`: a bundle that sees with a perception network of another framework."""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from robomarl.core.bundle.bundle import IMAGES_FILE, PERCEPTION_FILE, Bundle, load_bundle
from robomarl.core.bundle.runtime import open_session
from robomarl.core.camera.strip import Picture8, strip_table, to_strip
from robomarl.core.config import UserError
from robomarl.lab.export.folder import check_target
from robomarl.lab.export.seeing import Eyes, camera_of, pictures_of, seal_perception
from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.vision.form import PictureForm, PictureOptions
from robomarl.lab.foreign.vision.joined import joined
from robomarl.lab.foreign.vision.preparation import prepared
from robomarl.lab.foreign.vision.read import read_vision
from robomarl.lab.foreign.vision.source import VisionSource

TOLERANCE = 1e-5
"""Largest difference of a number, or of a share of it where it is above 1: single precision has seven digits."""
NOISE, TAKEN = 8, 2
"""Strips of noise, and pictures of the camera, on which both are compared."""
POSE_ERROR_M = 0.1
"""Bound of the own place by default, as that of `robomarl export --perception`."""


@dataclass(frozen=True)
class ForeignEyes:
    """A perception network of another framework, with the user's options for its pictures."""

    file: Path
    options: PictureOptions = field(default_factory=PictureOptions)
    max_pose_error_m: float | None = None
    """See `Eyes`; by default the one of the bundle's eyes, or `POSE_ERROR_M`."""


def import_perception(
    eyes: ForeignEyes, of: str | Path, out_dir: str | Path, name: str = ""
) -> tuple[Bundle, PictureForm, float]:
    """Give a bundle the eyes of a file, in place of those that it may have.

    Args:
        eyes: the network.
        of: name or folder of the bundle.
        out_dir: folder of the new bundle, as in `export_bundle`.
        name: its name; by default that of its folder.

    Returns:
        The bundle, the form of the pictures that its network takes, and the network's largest difference from the
        file's own framework, as `check_equal` says.

    Raises:
        UserError: the file reads no picture, an option is missing, the bundle's domain has no cameras or reads other
            numbers, or network and file compute different numbers. Nothing has been written then.
    """
    target = Path(out_dir)
    check_target(target)
    bundle = load_bundle(of)
    camera, pictures = camera_of(bundle.contract.vehicle.name), pictures_of(bundle)
    source = read_vision(eyes.file, eyes.options)
    size = _size(source, bundle, str(eyes.file))
    content = eyes.file.read_bytes()
    origin = {
        "source": eyes.file.name,
        "source_sha256": hashlib.sha256(content).hexdigest(),
        "source_framework": source.framework,
        "source_pictures": source.form.told,
    }
    with library_errors(f"{eyes.file}: can't be put behind a robot's strip", "export it anew"):
        graph = joined(source, size, origin)
    taken = pictures(camera, TAKEN)
    table = strip_table(camera, source.form.strip)
    difference = check_equal(graph, source, np.stack([to_strip(one, table) for one in taken]), str(eyes.file))
    before = bundle.contract.image.max_pose_error_m if bundle.contract.image else POSE_ERROR_M
    sealed = Eyes(graph, camera, eyes.max_pose_error_m or before)
    return seal_perception(without_eyes(bundle), sealed, lambda *_: taken, target, name), source.form, difference


def without_eyes(bundle: Bundle) -> Bundle:
    """Return a bundle without its perception network; the filter keeps the bound of the robot's own place."""
    files = {name: data for name, data in bundle.files.items() if name not in (PERCEPTION_FILE, IMAGES_FILE)}
    return replace(bundle, contract=replace(bundle.contract, image=None), files=files)


def _size(source: VisionSource, bundle: Bundle, where: str) -> int:
    """Count the network's numbers for one picture.

    Raises:
        UserError: the eyes that the bundle has say another number.
    """
    size = len(source.reference(prepared(np.zeros(source.form.strip.shape, np.uint8), source.form)))
    if (image := bundle.contract.image) and image.outputs != size:
        raise UserError(
            f"{where}: writes {size} numbers, and the eyes of {bundle.contract.name} write {image.outputs}; change its "
            "last layer, or name its outputs in order with --outputs."
        )
    return size


def check_equal(graph: bytes, source: VisionSource, strips: Picture8, where: str) -> float:
    """Compare the sealed graph with the file's own framework, which is given pictures of its own form.

    Args:
        graph: what `joined` returned.
        source: the network.
        strips: [K, R, C, 3] of the camera; strips of noise are added.
        where: the file, for errors.

    Returns:
        Largest difference of a number of the network, as a share of the number where that is above 1.

    Raises:
        UserError: it is above `TOLERANCE`, or a number is not finite.
    """
    noise = np.random.default_rng(0).integers(0, 256, (NOISE, *source.form.strip.shape), np.uint8)
    session, largest = open_session(graph, PERCEPTION_FILE), 0.0
    for strip in (*strips, *noise):
        (ours,) = session.run(None, {"strip": strip[None]})
        theirs = source.reference(prepared(strip, source.form))
        if not np.isfinite(theirs).all():
            raise UserError(f"{where}: writes numbers that are not finite for some pictures; train it anew.")
        largest = max(largest, float((np.abs(ours[0] - theirs) / np.maximum(np.abs(theirs), 1.0)).max()))
    if not largest <= TOLERANCE:
        raise UserError(
            f"The bundle's network differs from {source.framework} by {largest:.3g} (allowed: {TOLERANCE:g}); nothing "
            "was written."
        )
    return largest
