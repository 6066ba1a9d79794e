"""Claims in plain words, from the files in ``config/words``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from skem.repro.config.documents import read_mapping, refuse
from skem.repro.ledger.estimates import Claim, setting_of
from skem.repro.names import NAMES
from skem.repro.protocols import PROTOCOLS


class Words(NamedTuple):
    """Names of quantities, methods, data sets and protocols; sentences by claim; formats of settings by paper."""

    quantities: dict[str, str]
    methods: dict[str, str]
    data_sets: dict[str, str]
    protocols: dict[str, str]
    sentences: dict[str, str]
    settings: dict[str, dict[str, str]]

    def quantity(self, claim: Claim) -> str:
        """Name the quantity of a number."""
        return self.quantities.get(claim["quantity"], claim["quantity"].replace("_", " "))


def read(config: str | Path = "config") -> Words:
    """Read the words that papers share, and those of each paper.

    Raises
    ------
    ConfigurationError
        If a file has an unknown key or protocol.
    """
    allowed = Words._fields
    words = Words({}, dict(NAMES), dict(NAMES), {}, {}, {})
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
        for key, names in document.items():
            getattr(words, key).update(names)
    return words


FORMATS = {"n_trees": "{} trees", "n_neighbors": "k = {}", "n_threads": "{} threads"}


def sentence(claim: Claim, words: Words) -> str:
    """Describe a claim: a number by quantity, method, data and setting, any other claim by its sentence."""
    if claim["kind"] != "number":
        return words.sentences.get(claim["id"], claim["expression"])
    # An end of a range says so in its quantity.
    quantity = words.quantity(claim).partition(",")[0]
    method, dataset, settings = claim["method"], claim["dataset"], setting_of(claim)
    of = "" if method == "data" else f" of {words.methods.get(method, method)}"
    data = words.data_sets.get(dataset, dataset)
    on = "" if dataset == "any" else f" {'on' if of else 'of'} {data}"
    shown = []
    if {"n_blocks", "block_size"} <= settings.keys():
        shown.append(f"{settings['n_blocks']}x{settings['block_size']}")
    formats = {"n_components": "K = {}"} if of else {}
    formats |= {"lambda": "λ = {}"} if method == "prbf_lambda" else {}
    formats |= FORMATS | words.settings.get(claim["paper"], {})
    shown += [form.format(settings[name]) for name, form in formats.items() if name in settings]
    text = f"{quantity}{of}{on}" + (f" ({', '.join(shown)})" if shown else "")
    return text[0].upper() + text[1:]
