"""The files of the configuration for its tests, changed for the worse, and what is said of them."""

import copy

import yaml
from claims import ROOT, STATED
from snakemake.utils import update_config

from skem.repro.config import experiments, schemas
from skem.repro.config.documents import ConfigurationError

SCHEMAS = ROOT / "workflow" / "schemas"
EXPERIMENTS = ROOT / "config" / "experiments"
CONFIG, DATASETS, TABLE1 = (
    ROOT / "config" / name for name in ("config.yaml", "datasets.yaml", "experiments/table1.yaml")
)
FILES = {"config": CONFIG, "datasets": DATASETS, "experiment": TABLE1}
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
NUMBERS = set(STATED.loc[STATED["kind"] == "number", "id"])
REAL = {schema: yaml.safe_load(path.read_text(encoding="utf-8")) for schema, path in FILES.items()}


def merged(*overlays):
    config = copy.deepcopy(REAL["config"])
    for overlay in overlays:
        update_config(config, overlay)
    return config


def check(schema, document, folder):
    """Everything that is checked of a file before any job."""
    path = folder / FILES[schema].name
    path.write_text(yaml.dump(document, Dumper=DUMPER), encoding="utf-8")
    if schema == "experiment":
        experiments.settings("table1", folder, SCHEMAS / "experiment.yaml", REAL["config"], NUMBERS)
    elif schema == "config":
        experiments.load(document, [path], ROOT / "config", SCHEMAS, NUMBERS)
    else:
        schemas.check(document, SCHEMAS / f"{schema}.yaml", [path])


def walk(node, path=()):
    """Every path of a document."""
    if path:
        yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from walk(child, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def changed(schema, path, value):
    """The real file with one value changed; without a value, the key is gone."""
    document = copy.deepcopy(REAL[schema])
    parent = at(document, path[:-1])
    if value is Ellipsis:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


def complaint(schema, document, folder):
    """The message, without the folder, or None if nothing is wrong."""
    try:
        check(schema, document, folder)
    except ConfigurationError as error:
        return str(error).replace(f"{folder}/", "")
    except Exception as error:
        return f"crash: {error!r}"
    return None


def unclear(message, *words):
    """What is wrong with a message, or nothing."""
    if message is None:
        return "is accepted"
    if message.startswith("crash"):
        return message
    missing = [word for word in words if word not in message]
    if missing:
        return f"does not say {missing}: {message}"
    lines = message.split("\n")  # one fault each
    return f"is too long: {message}" if max(map(len, lines)) > 400 or len(set(lines)) < len(lines) else ""
