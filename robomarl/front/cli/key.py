"""Keys of the people that may put bundles on the robots. A robot that trusts a key only takes bundles
signed by trusted keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from robomarl.core.types import Figures

if TYPE_CHECKING:
    from robomarl.fleet.report import Report


@dataclass(frozen=True)
class Args:
    """Options of `robomarl key`."""

    action: Annotated[Literal["new", "list", "sign", "trust", "revoke", "threshold", "unsigned"], tyro.conf.Positional]
    """new NAME: make a key pair on this machine. list [FLEET]: the keys here, and those that the robots
    trust. sign NAME BUNDLE: sign a bundle, beside earlier signers. trust NAME FLEET: all robots take
    bundles that NAME signed, and nothing unsigned from now on. revoke NAME FLEET: they take nothing
    from NAME any more; without any key they take nothing at all. threshold N FLEET: N of the trusted
    keys have to sign. unsigned FLEET: they take unsigned bundles again, and forget all keys. All robots
    of a fleet change, or none.
    """
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[NAME]")] = ""
    """Name of the key (for `list` and `unsigned`: of the fleet); `trust` also takes the path of a .pub file."""
    target: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[BUNDLE|FLEET]")] = ""
    """Bundle for sign, fleet for trust, revoke and threshold."""
    instead_of: str = ""
    """trust: in the place of this key, in one step."""
    absent_ok: bool = False
    """trust, revoke, threshold, unsigned: change the robots that can be connected to; without it, all
    change or none. Run the command again when the absent robots are back.
    """
    fleet: str = ""
    """sign: only robots of this fleet may take it."""
    expires: str = ""
    """sign: the last day on which robots may take it, YYYY-MM-DD."""
    counter: int = 0
    """sign: of two bundles the newer one has the larger; by default the time of signing [s], or one more than the
    last."""
    root: Path = Path()
    """Folder that relative folders of robots on this machine are below; by default the working directory."""


def run(args: Args) -> Figures:
    """Do the action, and print the result."""
    from robomarl.core.config import UsageError

    if args.action != "list" and not args.name:
        raise UsageError(f"key {args.action} needs a name; run `robomarl key list`.")
    if args.action in ("sign", "trust", "revoke", "threshold") and not args.target:
        raise UsageError(
            f"key {args.action} {args.name}: name the {'bundle' if args.action == 'sign' else 'fleet'} too."
        )
    return {"new": new, "list": show, "sign": sign, "trust": trust}.get(args.action, change)(args)


def new(args: Args) -> Figures:
    """Make a key pair."""
    from robomarl.fleet.trust.keys import fingerprint, keys_dir, new_key, public_key

    public = new_key(args.name, keys_dir())
    print_ = fingerprint(public_key(public, args.name))
    print(f"{keys_dir() / args.name}.pem: keep it to yourself; no password protects it")
    print(f"{keys_dir() / args.name}.pub: {public}")
    print(f"fingerprint {print_}")
    return {"name": args.name, "public": public, "fingerprint": print_, "folder": str(keys_dir())}


def show(args: Args) -> Figures:
    """Print the keys on this machine; for a fleet, also the keys that each robot trusts."""
    import base64

    from robomarl.fleet.trust.keys import fingerprint, keys_dir, read_keys

    here = read_keys(keys_dir())
    for name, raw in here.items():
        print(f"{name}  {fingerprint(raw)}")
    if not here:
        print(f"{keys_dir()}: no keys; make one with `robomarl key new NAME`")
    figures = {
        "keys": {name: base64.b64encode(raw).decode() for name, raw in here.items()},
        "fingerprints": {name: fingerprint(raw) for name, raw in here.items()},
    }
    if not args.name:
        return figures
    return {**figures, **ask(args.name, args)}


def sign(args: Args) -> Figures:
    """Write the signature beside a bundle; it joins those over an equal statement."""
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.core.config import UserError
    from robomarl.fleet.trust import statement as words
    from robomarl.fleet.trust.keys import fingerprint, keys_dir, private_key

    bundle = load_bundle(args.target)
    file = bundle.folder / words.SIGNATURE_FILE
    if not bundle.folder.is_dir():
        raise UserError(f"{bundle.folder}: is packed; unpack it, sign the folder, and pack that.")
    key = private_key(args.name, keys_dir())
    said = words.statement_of(bundle, args.fleet, args.expires, args.counter)
    signed = words.sign(words.joined(bundle, said, args.counter), key)
    try:
        file.write_bytes(signed.to_bytes())
    except OSError as error:
        raise UserError(f"{file}: can't be written ({error.strerror}); mend its permissions.") from None
    signers = [fingerprint(raw) for raw in signed.signatures]
    print(f"{file}: bundle {bundle.id[:12]}, counter {signed.statement.counter}, signed by {args.name}")
    print(f"signatures: {', '.join(signers)}")
    counter = signed.statement.counter
    return {"id": bundle.id, "name": args.name, "file": str(file), "signers": signers, "counter": counter}


def trust(args: Args) -> Figures:
    """Let all robots trust a key."""
    from robomarl.fleet.trust.keys import keys_dir, public_key

    file = Path(args.name) if args.name.endswith(".pub") else keys_dir() / f"{args.name}.pub"
    text = read_public(file)
    public_key(text, str(file))
    about = {"name": file.stem, "key": text.split()[0], "instead_of": args.instead_of}
    return change_all(args, args.target, about, names_fleet=True)


def change(args: Args) -> Figures:
    """Revoke a key, set the threshold, or allow unsigned bundles, on all robots of a fleet."""
    from robomarl.core.config import UsageError

    if args.action == "threshold" and not args.name.isdigit():
        raise UsageError(f"key threshold {args.name}: must be the number of keys that have to sign.")
    words = {"revoke": {"name": args.name}, "unsigned": {}}
    about = {"count": int(args.name)} if args.action == "threshold" else words[args.action]
    return change_all(args, args.name if args.action == "unsigned" else args.target, about)


def change_all(args: Args, name: str, about: Figures, names_fleet: bool = False) -> Figures:
    """Change all robots of a fleet, or none; `names_fleet` tells them which fleet they are of."""
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.fleet.robot import connect_all
    from robomarl.fleet.trust.team_change import TrustChange

    fleet = load_fleet(name)
    about = {**about, "fleet": fleet.name} if names_fleet else about
    reports = TrustChange(connect_all(fleet, args.root), args.action, about, args.absent_ok).run()
    if not any(r.facts["changed"] for r in reports):
        print("No robot was changed.")
    return told_all(reports)


def read_public(file: Path) -> str:
    """The text of a public key's file.

    Raises:
        UserError: there is none.
    """
    from robomarl.core.config import UserError

    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{file}: can't be read; name a key of `robomarl key list`, or a .pub file.") from None


def ask(name: str, args: Args) -> Figures:
    """Ask every robot of a fleet for the keys that it trusts, and print them."""
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.fleet.report import each
    from robomarl.fleet.robot import connect_all

    return told_all(each(connect_all(load_fleet(name), args.root), lambda robot: {"facts": robot.call("trusted")}))


def told_all(reports: "Sequence[Report]") -> Figures:
    """Print the keys that each robot trusts, and return the figures."""
    for r in reports:
        word = "ABSENT  " if r.absent else "FAILED  "
        print(f"{r.name}  {told(r.facts) if r.ok else word + r.reason}")
        if refused := r.facts.get("refused"):
            print(f"{r.name}  refuses what it has now: {refused}")
    known = [r.facts for r in reports if "signed" in r.facts]
    mixed = any(facts[key] != known[0][key] for facts in known for key in ("signed", "fingerprints", "threshold"))
    if mixed:
        print("The robots trust different keys; run the command that was interrupted again.")
    return {
        "ok": all(r.ok or r.absent for r in reports) and any(r.ok for r in reports),
        "mixed": mixed,
        "robots": [{"name": r.name, "ok": r.ok, "absent": r.absent, "reason": r.reason, **r.facts} for r in reports],
    }


def told(facts: Figures) -> str:
    """Describe the keys that a robot trusts, for people."""
    if not facts["signed"]:
        return "takes unsigned bundles"
    names = ", ".join(f"{name} {print_}" for name, print_ in facts["fingerprints"].items())
    if len(facts["names"]) < facts["threshold"]:
        return f"takes NOTHING: trusts {names or 'nobody'}, wants {facts['threshold']} signatures"
    return f"trusts {names}; {facts['threshold']} must sign; nothing below counter {facts['counter']}"
