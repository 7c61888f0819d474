"""Bundles that are wrong in every way we could think of, made at random from one that is right."""

import os
import random
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import onnx
from onnx import numpy_helper

from robomarl.core.bundle.bundle import MAX_BYTES
from robomarl.core.bundle.provenance import sha256_of
from tests.core.bundle.sealing import reseal

FILES = ("policy.onnx", "bundle.json", "golden.npz", "README.md", "weights.npz")


def truncated(folder: Path, rng: random.Random) -> Path:
    file = folder / rng.choice(FILES)
    os.truncate(file, rng.randrange(file.stat().st_size))
    return folder


def bit_flipped(folder: Path, rng: random.Random) -> Path:
    file = folder / rng.choice(FILES)
    content = bytearray(file.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)
    return folder


def renamed(folder: Path, rng: random.Random) -> Path:
    """A file, an element, a feature or a command under another name; all but the first resealed."""

    def change(data: dict) -> None:
        place = rng.choice(["elements", "spec", "action"])
        rows = {
            "elements": data["observation"]["elements"],
            "spec": data["observation"]["spec"]["fields"],
            "action": data["action"]["fields"],
        }[place]
        row = rng.choice(rows)
        row["name"] = rng.choice([row["name"] + "_", "x" + row["name"], row["name"].upper()])

    if rng.random() < 0.25:
        file = folder / rng.choice(FILES)
        file.rename(file.with_name("x" + file.name))
    else:
        reseal(folder, change)
    return folder


def reordered(folder: Path, rng: random.Random) -> Path:
    """Two elements, commands or whole features exchanged; features with their elements, so that all else fits."""

    def change(data: dict) -> None:
        place = rng.choice(["elements", "action", "features"])
        observation = data["observation"]
        if place == "features":
            fields, elements = observation["spec"]["fields"], observation["elements"]
            i, j = rng.sample(range(len(fields)), 2)
            fields[i], fields[j] = fields[j], fields[i]
            names = [f["name"] for f in fields]
            observation["elements"] = sorted(elements, key=lambda e: names.index(e["name"].split(".")[0].split("[")[0]))
            return
        rows = observation["elements"] if place == "elements" else data["action"]["fields"]
        i, j = rng.sample(range(len(rows)), 2)
        rows[i], rows[j] = rows[j], rows[i]

    reseal(folder, change)
    return folder


def oversized(folder: Path, rng: random.Random) -> Path:
    """A file of any name, huge and empty: nothing is read to find out."""
    file = folder / rng.choice([*FILES, "extra.bin"])
    file.touch()
    os.truncate(file, MAX_BYTES + rng.randrange(1, 2**30))
    return folder


def zip_slip(folder: Path, rng: random.Random) -> Path:
    packed = folder.with_suffix(".zip")
    name = rng.choice(["../../slipped", "/tmp/slipped", "a/../../slipped", "..\\slipped", "C:\\slipped", "./x/../../s"])
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
        archive.writestr(name, b"slipped")
    return packed


def symlinked(folder: Path, rng: random.Random) -> Path:
    """A link in the folder, or in a ZIP file of it."""
    name = rng.choice(FILES)
    if rng.random() < 0.5:
        (folder / name).rename(folder.with_suffix(".elsewhere"))
        (folder / name).symlink_to(
            rng.choice([folder.with_suffix(".elsewhere"), Path("/etc/passwd"), Path("/dev/zero")])
        )
        return folder
    packed = folder.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.iterdir():
            entry = zipfile.ZipInfo(file.name)
            entry.external_attr = (stat.S_IFLNK if file.name == name else stat.S_IFREG) << 16
            archive.writestr(entry, b"/etc/passwd" if file.name == name else file.read_bytes())
    return packed


def newer_schema(folder: Path, rng: random.Random) -> Path:
    reseal(folder, lambda data: data.update(schema_version=rng.randrange(3, 1000)))
    return folder


def wrong_vehicle(folder: Path, rng: random.Random) -> Path:
    """Whole and sealed, but for another vehicle than the robot."""

    def change(data: dict) -> None:
        content = data["vehicle"]["content"]
        name = rng.choice(["ssl_omni", "turtlebot3_burger", "crazyflie_20", "x500"])
        data["vehicle"] = {"name": name, "content": content | {"name": name}, "sha256": ""}
        data["vehicle"]["sha256"] = sha256_of(data["vehicle"]["content"])

    reseal(folder, change)
    return folder


def wrong_rate(folder: Path, rng: random.Random) -> Path:
    def change(data: dict) -> None:
        rate = rng.choice([1.0, 25.0, 49.0, 51.0, 100.0, 500.0])
        data["rate_hz"] = rate
        if rng.random() < 0.5:
            data["safety"]["period_s"] = 1 / rate

    reseal(folder, change)
    return folder


def nan_weights(folder: Path, rng: random.Random) -> Path:
    """One weight of the network is no number; hashes and seal fit."""
    model = onnx.load(folder / "policy.onnx")
    tensors = [t for t in model.graph.initializer if t.data_type == onnx.TensorProto.FLOAT and len(t.dims) == 2]
    tensor = rng.choice(tensors)
    array = numpy_helper.to_array(tensor).copy()
    array.flat[rng.randrange(array.size)] = rng.choice([float("nan"), float("inf"), -float("inf")])
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    onnx.save(model, folder / "policy.onnx")
    reseal(folder)
    return folder


def lost_scale(folder: Path, rng: random.Random) -> Path:
    """A few weights of the network rounded or scaled, as by a careless conversion; hashes and seal fit."""
    model = onnx.load(folder / "policy.onnx")
    tensors = [t for t in model.graph.initializer if t.data_type == onnx.TensorProto.FLOAT and len(t.dims) == 2]
    tensor = rng.choice([t for t in tensors if min(t.dims) > 1])
    array = numpy_helper.to_array(tensor)
    spoiled = array.round(1) if rng.random() < 0.5 else array * rng.choice([0.35 / 0.55, 2.0, -1.0])
    tensor.CopyFrom(numpy_helper.from_array(spoiled.astype(array.dtype), tensor.name))
    onnx.save(model, folder / "policy.onnx")
    reseal(folder)
    return folder


KINDS: dict[str, Callable[[Path, random.Random], Path]] = {
    kind.__name__: kind
    for kind in (
        *(truncated, bit_flipped, renamed, reordered, oversized, zip_slip, symlinked, newer_schema),
        *(wrong_vehicle, wrong_rate, nan_weights, lost_scale),
    )
}
"""Each takes a copy of a sound bundle, and returns what is to be flashed."""
BEHAVIOUR = {"nan_weights", "lost_scale", "reordered", "wrong_vehicle"}
"""These are whole: only what they do, or whom they are for, gives them away."""


def make(kind: str, sound: Path, folder: Path, rng: random.Random) -> Path:
    """A bundle that is wrong."""
    return KINDS[kind](Path(shutil.copytree(sound, folder)), rng)


def as_sent(path: Path) -> dict[str, bytes]:
    """What a careless or hostile operator would send of it."""
    if path.is_file():
        with zipfile.ZipFile(path) as archive:
            return {entry.filename: archive.read(entry) for entry in archive.infolist()}
    return {p.name: p.read_bytes() for p in path.iterdir() if not p.is_symlink() and p.stat().st_size < MAX_BYTES}
