"""Figures of a bundle's evaluation: selected figures in the sealed card, all figures in `eval.json` beside it."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

from robomarl.core.bundle.bundle import CARD_FILE, CONTRACT_FILE, EVAL_FILE, entry_of, load_bundle, seal
from robomarl.core.types import Figures
from robomarl.lab.export.model_card import model_card


def add_figures(folder: Path, figures: Figures, command: str) -> None:
    """Seal a bundle again with the figures in its card, and write `eval.json` for its new id.

    Args:
        folder: the bundle.
        figures: its figures from `robomarl eval --json`.
        command: the command that flies these episodes again.
    """
    plain = load_bundle(folder).contract
    card = model_card(replace(plain, files={}), figures).encode()
    (folder / CARD_FILE).write_bytes(card)
    (folder / CONTRACT_FILE).write_bytes(seal(replace(plain, files={**plain.files, CARD_FILE: entry_of(card)})))
    about = {"id": load_bundle(folder).id, "command": command, "date": date.today().isoformat()}
    found = {f"filter_{figures['filter']}": dict(figures)}
    (folder / EVAL_FILE).write_text(json.dumps({**about, **found}, indent=2) + "\n")
