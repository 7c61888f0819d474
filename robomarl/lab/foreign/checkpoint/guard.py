"""Exceptions of libraries that open strangers' files, as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from robomarl.core.config import UserError


@contextmanager
def library_errors(where: str, mend: str) -> Iterator[None]:
    """Turn any exception of a library into a `UserError`.

    Libraries raise exceptions of their own classes for broken files (onnxruntime, protobuf, zipfile,
    pickle, zlib, safetensors, PyTorch). These classes change between versions, so no list can be
    complete.

    Args:
        where: the file, and the attempted action, as "policy.pt: PyTorch can't open it".
        mend: action for the user.

    Raises:
        UserError: the block raised anything but `UserError`, `ModuleNotFoundError` (an extra that is
            not installed), `OSError` with a file name, or `MemoryError`.
    """
    try:
        yield
    except (UserError, ModuleNotFoundError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = lines[0].rstrip(".")[:160] if lines else type(error).__name__
        raise UserError(f"{where} ({why}); {mend}.") from None
