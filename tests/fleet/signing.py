"""Bundles that somebody signed, and robots that trust somebody."""

from pathlib import Path

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.fleet.trust import keys, statement
from robomarl.fleet.trust.policy import Trust
from tests.core.bundle.sealing import copy


def signed(bundle: Bundle, folder: Path, name: str, **about) -> Bundle:
    there = copy(bundle.folder, folder / name)
    said = statement.statement_of(load_bundle(there), **about)
    one = statement.sign(statement.Signed(said, {}), keys.private_key(name, keys.keys_dir()))
    (there / "signature.json").write_bytes(one.to_bytes())
    return load_bundle(there)


def trusting(*names: str, **about) -> Trust:
    trust = Trust(**about)
    for name in names:
        trust = trust.with_key(name, keys.new_key(name, keys.keys_dir()))
    return trust


def reasons(reports) -> str:
    return " ".join(r.reason for r in reports)
