"""A bundle's actor as C99 without dependencies: static memory, weights as constants, single precision.

    NAME.h   the contract: sizes, rate, every element with name, unit, frame and range
    NAME.c   the actor
    main.c   the golden sequences, compared and timed

The graph is read for one robot, so that every size is known, and written as loops. The safety filter is not in it.
"""

from dataclasses import dataclass
from pathlib import Path

from robomarl.core.bundle.runtime import load_policy
from robomarl.core.config import UserError
from robomarl.lab.export_c.compiled import ActorFigures, find_compiler, measure
from robomarl.lab.export_c.golden_test import golden_test
from robomarl.lab.export_c.source import MARK, actor, header, symbol

__all__ = ["CActor", "export_c"]


@dataclass(frozen=True)
class CActor:
    """Result of an export to C."""

    id: str
    """Id of the bundle."""
    name: str
    """How files and functions begin."""
    files: tuple[Path, ...]
    measured: ActorFigures | None
    """None where there is no compiler."""


def export_c(bundle_dir: str | Path, out_dir: str | Path) -> CActor:
    """Write the C actor of a bundle, and test it if there is a compiler.

    Args:
        bundle_dir: name or folder of a bundle, which is checked first, golden values included.
        out_dir: folder of the files; files of an earlier export are replaced, anything else is not
            touched.

    Raises:
        UserError: the bundle is not sound, an operator is not translated, a file from another source is
            in the way, or the compiled actor differs from the bundle.
    """
    bundle = load_policy(bundle_dir).bundle
    name, target = symbol(bundle.contract.name), Path(out_dir)
    texts = {f"{name}.h": header(bundle), f"{name}.c": actor(bundle), "main.c": golden_test(bundle)}
    _write(target, texts)
    compiler = find_compiler()
    measured = measure(target.resolve(), name, compiler) if compiler else None
    return CActor(bundle.id, name, tuple(target / file for file in texts), measured)


def _write(target: Path, texts: dict[str, str]) -> None:
    try:
        for file in texts:
            if (target / file).exists() and not (target / file).read_text(errors="replace").startswith(MARK):
                raise UserError(f"{target / file}: is not of an export to C; name another folder.")
        target.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (target / file).write_text(text)
    except OSError as error:
        raise UserError(f"{target}: can't be written ({error.strerror}); name another folder.") from None
