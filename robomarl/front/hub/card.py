"""Card of a bundle at an address: `README.md` beside it, with the metadata that hubs of models read and search."""

import json
from collections.abc import Mapping

import yaml

from robomarl.core.bundle.bundle import CARD_FILE, EVAL_FILE, Bundle
from robomarl.front.hub.signers import Signers

FOLDER = "bundle"
"""Folder of the sealed files, so that the card can lie beside them."""
USE = """
## Use

```sh
robomarl pull {url} bundles/{name}
robomarl verify bundles/{name}
```
"""


def card_of(bundle: Bundle, url: str, signers: Signers) -> str:
    """Return the Markdown text of the card: metadata in YAML, the bundle's own card, and the command to fetch it."""
    head = yaml.safe_dump(metadata_of(bundle, signers), sort_keys=False, allow_unicode=True)
    body = bundle.files[CARD_FILE].decode(errors="replace")
    return f"---\n{head}---\n\n{body.rstrip()}\n{USE.format(url=url, name=bundle.contract.name)}"


def metadata_of(bundle: Bundle, signers: Signers) -> Mapping[str, object]:
    """Return the metadata of a bundle, in the keys of the Hugging Face Hub and one table of our own."""
    contract = bundle.contract
    task = str(contract.scenario.content.get("task", ""))
    found = {
        "library_name": "robomarl",
        "pipeline_tag": "robotics",
        "tags": ["robotics", "multi-agent", "reinforcement-learning", "onnx", "robomarl", *filter(None, [task])],
        "robomarl": {
            "id": bundle.id,
            "name": contract.name,
            "vehicle": contract.vehicle.name,
            "team_size": list(contract.team_size),
            "rate_hz": contract.rate_hz,
            "schema_version": contract.schema_version,
            "signed_by": [*signers.known, *signers.unknown],
        },
    }
    results = results_of(bundle, task)
    return {**found, "model-index": [{"name": contract.name, "results": results}]} if results else found


def results_of(bundle: Bundle, task: str) -> list[dict[str, object]]:
    """Return the success rate behind the filter, of `eval.json`, in the form of a model index; [] without one."""
    figures = json.loads(bundle.sidecars.get(EVAL_FILE, b"{}")).get("filter_full", {})
    if "success_rate" not in figures:
        return []
    about = {"name": str(figures.get("scenario", task)), "type": task or "robotics"}
    metric = {
        "type": "success_rate",
        "value": figures["success_rate"],
        "name": f"of {figures.get('episodes')} episodes",
    }
    return [{"task": {"type": "robotics"}, "dataset": about, "metrics": [metric]}]
