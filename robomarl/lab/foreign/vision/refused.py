"""`pictures_refused`: the error for a policy that reads pictures itself, which no robot runs."""

from robomarl.core.config import UserError


def pictures_refused(where: str, what: str) -> UserError:
    """Return the error of a policy with a layer of pictures.

    Args:
        where: its file.
        what: the operator, call or array that shows it.
    """
    return UserError(
        f"{where}: reads pictures ({what}), and a bundle's policy reads features; export the part from the picture to "
        "the numbers of docs/eyes.md as ONNX, and import that with --perception-of BUNDLE in place of --contract."
    )
