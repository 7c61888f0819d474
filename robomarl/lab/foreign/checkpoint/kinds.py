"""Detection of a file's kind by its first bytes, because people rename files and downloads go wrong."""

import zipfile
from pathlib import Path

from robomarl.core.config import UserError

KINDS = ".onnx, .pt, .pth, .zip, .pkl, .safetensors, .msgpack or .cleanrl_model"
"""Names of the files that import reads."""
_NOT_READ = (
    (
        b"version https://git-lfs",
        "is a pointer of Git LFS and not the file itself; run git lfs pull, then import again",
    ),
    (b"\x89HDF", "is an HDF5 file, as Keras writes; convert it with tf2onnx, and import the .onnx"),
    (b"\x1f\x8b", "is compressed by gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd; unpack it first"),
    (b"\x93NUMPY", "is one numpy array, which does not say which layer it is; save the whole state dict"),
)
_ZIP_MEMBERS = (
    ("policy.pth", "sb3"),
    ("data.pkl", "torch"),
    ("model.json", "is a program of torch.export (.pt2); export the policy with torch.onnx.export instead"),
    ("model.weights.h5", "is a model of Keras; export it with model.export(FILE, format='onnx') instead"),
    (".npy", "holds numpy arrays, whose layers no trainer's layout names; save a state dict, or export ONNX"),
)
_SUFFIXES = {
    ".onnx": "onnx",
    ".safetensors": "safetensors",
    ".msgpack": "msgpack",
    **dict.fromkeys((".pt", ".pth", ".pkl", ".pickle", ".cleanrl_model"), "pickle"),
}


def kind_of(file: Path) -> str:
    """Return one of onnx, torchscript, torch, sb3, pickle, safetensors and msgpack.

    Raises:
        UserError: none of these kinds; the message names the kind of the file and the fix.
    """
    if file.is_dir():
        raise UserError(f"{file}: is a folder{_folder(file)}; name one file of {KINDS}.")
    with file.open("rb") as opened:
        head = opened.read(512)
    if not head:
        raise UserError(f"{file}: is empty, so it is of no kind that import reads; name one of {KINDS}.")
    for start, said in _NOT_READ:
        if head.startswith(start):
            raise UserError(f"{file}: {said}.")
    if head[4:8] == b"TFL3":
        raise UserError(f"{file}: is a model of TensorFlow Lite; convert it with tf2onnx, and import the .onnx.")
    if zipfile.is_zipfile(file):
        return _archive(file)
    if _is_text(head):
        page = "a web page" if head.lstrip().lower().startswith((b"<!doctype", b"<html")) else "text"
        start = head[:40].decode(errors="replace")
        what = "is no ONNX file" if file.suffix == ".onnx" else "can't be read as a checkpoint"
        raise UserError(f"{file}: {what}: it is {page} that begins with {start!r}; fetch the file itself.")
    return _by_bytes(head) or _by_name(file)


def _by_bytes(head: bytes) -> str:
    """The kind, where the first bytes show it."""
    if head[:1] == b"\x80" and 2 <= head[1] <= 5:
        return "pickle"
    return "safetensors" if head[8:9] == b"{" and head[4:8] == bytes(4) else ""


def _by_name(file: Path) -> str:
    if file.suffix not in _SUFFIXES:
        raise UserError(f"{file}: is of no kind that import reads; name one of {KINDS}.")
    if file.suffix == ".cleanrl_model":  # no pickle, so written by a JAX variant of cleanrl
        return "msgpack"
    return _SUFFIXES[file.suffix]


def _archive(file: Path) -> str:
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    if any("/code/" in name and name.endswith(".py") for name in names):
        return "torchscript"
    for member, found in _ZIP_MEMBERS:
        if any(name.endswith(member) for name in names):
            if " " in found:
                raise UserError(f"{file}: {found}.")
            return found
    some = ", ".join(names[:4]) or "nothing"
    raise UserError(f"{file}: is a ZIP archive without a policy ({some}); name one of {KINDS}.")


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() or c.isspace() for c in text)


def _folder(file: Path) -> str:
    if (file / "saved_model.pb").exists():
        return " (a SavedModel of TensorFlow: convert it with tf2onnx)"
    if (file / "_METADATA").exists() or (file / "manifest.ocdbt").exists():
        return (
            " (a checkpoint of Orbax: load it with its trainer, and save the parameters by brax.io.model.save_params)"
        )
    return ""
