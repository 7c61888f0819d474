"""Keys: who may put bundles on the robots. A robot that trusts a key takes nothing that no trusted key signed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro


@dataclass(frozen=True)
class Args:
    """Options of `robomarl key`."""

    action: Annotated[Literal["new", "list", "sign", "trust", "revoke"], tyro.conf.Positional]
    """new NAME: make a key pair on this machine. list [FLEET]: the keys here, and whom the robots trust. sign NAME
    BUNDLE: sign a bundle. trust NAME FLEET: all robots take what NAME signed, and nothing unsigned. revoke NAME
    FLEET: they no longer do."""
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[NAME]")] = ""
    """Name of the key (for `list`: of the fleet); `trust` also takes the path of a .pub file."""
    target: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[BUNDLE|FLEET]")] = ""
    """Bundle for sign, fleet for trust and revoke."""
    root: Path = Path()
    """Folder that relative folders of robots on this machine are below; by default the working directory."""


def run(args: Args) -> dict[str, Any]:
    """Do it, and say what came of it."""
    from robomarl.config import UserError

    if args.action != "list" and not args.name:
        raise UserError(f"key {args.action} needs the name of a key; run `robomarl key list`.")
    if args.action in ("sign", "trust", "revoke") and not args.target:
        raise UserError(
            f"key {args.action} {args.name}: name the {'bundle' if args.action == 'sign' else 'fleet'} too."
        )
    return {"new": new, "list": show, "sign": sign, "trust": change, "revoke": change}[args.action](args)


def new(args: Args) -> dict[str, Any]:
    """Make a key pair."""
    from robomarl.fleet.keys import keys_dir, new_key

    public = new_key(args.name, keys_dir())
    print(f"{keys_dir() / args.name}.pem: keep it to yourself; no password protects it")
    print(f"{keys_dir() / args.name}.pub: {public}")
    return {"name": args.name, "public": public, "folder": str(keys_dir())}


def show(args: Args) -> dict[str, Any]:
    """The keys on this machine; of a fleet, whom each robot trusts."""
    import base64

    from robomarl.fleet.keys import keys_dir, read_keys

    here = {name: base64.b64encode(raw).decode() for name, raw in read_keys(keys_dir()).items()}
    for name, public in here.items():
        print(f"{name}  {public}")
    if not here:
        print(f"{keys_dir()}: no keys; make one with `robomarl key new NAME`")
    if not args.name:
        return {"keys": here}
    return {"keys": here, **ask(args.name, args, lambda robot: robot.call("trusted"))}


def sign(args: Args) -> dict[str, Any]:
    """Write the signature beside a bundle."""
    from robomarl.config import UserError
    from robomarl.fleet import keys
    from robomarl.policies.bundle import load_bundle

    bundle = load_bundle(args.target)
    file = bundle.folder / keys.SIGNATURE_FILE
    if not bundle.folder.is_dir():
        raise UserError(f"{bundle.folder}: is packed; unpack it, sign the folder, and pack that.")
    content = keys.sign(bundle.id, args.name, keys.keys_dir())
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UserError(f"{file}: can't be written ({error.strerror}); mend its permissions.") from None
    print(f"{file}: bundle {bundle.id[:12]} signed by {args.name}")
    return {"id": bundle.id, "name": args.name, "file": str(file)}


def change(args: Args) -> dict[str, Any]:
    """Let all robots trust a key, or no longer."""
    from robomarl.fleet.keys import keys_dir, public_key

    file = Path(args.name) if args.name.endswith(".pub") else keys_dir() / f"{args.name}.pub"
    name = file.stem
    key = {}
    if args.action == "trust":
        text = read_public(file)
        public_key(text, str(file))
        key = {"key": text}

    def act(robot: Any) -> dict[str, Any]:
        robot.hello()
        robot.lock()
        return robot.call(args.action, name=name, **key)

    return ask(args.target, args, act)


def read_public(file: Path) -> str:
    """The text of a public key's file.

    Raises:
        UserError: there is none.
    """
    from robomarl.config import UserError

    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{file}: can't be read; name a key of `robomarl key list`, or a .pub file.") from None


def ask(fleet: str, args: Args, act: Any) -> dict[str, Any]:
    """Ask every robot of a fleet, and print whom it trusts."""
    from robomarl.fleet.report import each
    from robomarl.fleet.robot import connect_all
    from robomarl.hardware_configs.fleet import load_fleet

    reports = each(connect_all(load_fleet(fleet), args.root), lambda robot: {"facts": act(robot)})
    for r in reports:
        names = ", ".join(r.facts.get("names", ())) or "nobody: it takes unsigned bundles"
        print(f"{r.name}  {'trusts ' + names if r.ok else 'FAILED  ' + r.reason}")
        if refused := r.facts.get("refused"):
            print(f"{r.name}  refuses what it has now: {refused}")
    return {
        "ok": all(r.ok for r in reports),
        "robots": [{"name": r.name, "ok": r.ok, "reason": r.reason, **r.facts} for r in reports],
    }
