"""Claims in plain words, from the files in ``config/words``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from skem.repro.config.documents import read_mapping, refuse
from skem.repro.ledger.estimates import Claim, setting_of
from skem.repro.names import NAMES
from skem.repro.protocols import PROTOCOLS

UNITS = ("%", "points", "pixels", "MB")


class Words(NamedTuple):
    """Names of quantities, methods, data sets and protocols; sentences by claim; formats and headlines by paper; units of differences."""

    quantities: dict[str, str]
    methods: dict[str, str]
    data_sets: dict[str, str]
    protocols: dict[str, str]
    sentences: dict[str, str]
    settings: dict[str, dict[str, str]]
    headlines: dict[str, list[dict[str, str]]]
    differences: dict[str, str]

    def quantity(self, claim: Claim) -> tuple[str, str, str]:
        """Return the name of a number's quantity, its unit and its qualifier, such as "at most"; empty if it has none."""
        words = self.quantities.get(claim["quantity"], claim["quantity"].replace("_", " "))
        name, *others = words.split(", ")
        unit, qualifier = (
            ", ".join(w for w in others if (w in UNITS) is is_unit) for is_unit in (True, False)
        )
        return name, unit, qualifier

    def difference_unit(self, claim: Claim) -> str:
        """Return the unit of the difference that decides a statement; empty if it has none."""
        return self.differences.get(claim["id"], self.differences.get(claim["quantity"], ""))

    def named(self, text: str) -> str:
        """Put the names of methods, data sets and configurations instead of their keys."""
        names = {key: name for key, name in (self.methods | NAMES).items() if "_" in key}
        names |= {key: name for key, name in self.data_sets.items() if key not in NAMES}
        keys = "|".join(map(re.escape, names))
        return re.sub(rf"\b({keys})\b", lambda key: names[key[1]], re.sub(r"-K(?=\d)", ", K = ", text))


def read(config: str | Path = "config") -> Words:
    """Read the words that papers share, and those of each paper.

    Raises
    ------
    ConfigurationError
        If a file has an unknown key or protocol.
    """
    allowed = Words._fields
    words = Words({}, dict(NAMES), dict(NAMES), {}, {}, {}, {}, {})
    for path in sorted(Path(config, "words").glob("*.yaml")):
        document = read_mapping(path)
        refuse(
            [f"{path}: {key!r} is no key; allowed: {', '.join(allowed)}" for key in {*document} - {*allowed}]
            + [
                f"{path}: {word!r} is {ours!r}; allowed: {', '.join(PROTOCOLS)}"
                for word, ours in document.get("protocols", {}).items()
                if ours not in PROTOCOLS
            ]
        )
        words.settings[path.stem] = document.pop("settings", {})
        words.headlines[path.stem] = document.pop("headlines", [])
        for key, names in document.items():
            getattr(words, key).update(names)
    return words


FORMATS = {"n_trees": "{} trees", "n_neighbors": "k = {}", "n_threads": "{} threads"}


def sentence(claim: Claim, words: Words) -> str:
    """Describe a claim: a number by quantity, method, data and setting, any other claim by its sentence."""
    if claim["kind"] != "number":
        return words.sentences.get(claim["id"], claim["expression"])
    quantity, _, qualifier = words.quantity(claim)
    method, dataset = claim["method"], claim["dataset"]
    settings = {name: str(value).replace("..", " to ") for name, value in setting_of(claim).items()}
    of = "" if method == "data" else f" of {words.methods.get(method, method)}"
    data = words.data_sets.get(dataset, dataset)
    on = "" if dataset == "any" else f" {'on' if of else 'of'} {data}"
    shown = []
    if {"n_blocks", "block_size"} <= settings.keys():
        counts, sizes = settings["n_blocks"], settings["block_size"]
        form = "{} blocks of {} features" if " to " in counts else "{}x{}"
        shown.append(
            " or ".join(form.format(*pair) for pair in zip(counts.split("|"), sizes.split("|"), strict=True))
        )
    formats = {"n_components": "K = {}"} if of else {}
    formats |= {"lambda": "λ = {}"} if method == "prbf_lambda" else {}
    formats |= FORMATS | words.settings.get(claim["paper"], {})
    shown += [
        form.format(settings[name].replace("|", " or ")) for name, form in formats.items() if name in settings
    ]
    text = f"{quantity}{of}{on}" + (f" ({', '.join(shown)})" if shown else "")
    text += f", {qualifier}" if qualifier else ""
    return text[0].upper() + text[1:]
