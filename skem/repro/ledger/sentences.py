"""Claims in plain words, from the files in ``config/claims``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from skem.repro.ledger import rows
from skem.repro.ledger.estimates import Claim, setting_of
from skem.repro.names import NAMES

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
    """Read the words that papers share, and those of each paper; `ConfigurationError` if a file is wrong."""
    words, papers = Words({}, dict(NAMES), dict(NAMES), {}, {}, {}, {}, {}), rows.read(config)
    for name, own in papers.items():
        words.quantities.update(own.file.quantities)
        words.methods.update(own.file.methods)
        words.data_sets.update(own.file.data_sets)
        words.protocols.update(own.file.protocols)
        words.differences.update(own.file.units)
        words.settings[name], words.headlines[name] = own.file.settings, own.file.headlines
    path = Path(config, "claims.csv")
    stated = pd.read_csv(path, dtype=str, keep_default_na=False) if path.exists() else pd.DataFrame()
    for claim in stated.to_dict("records"):
        if claim["kind"] != "number" and claim["paper"] in papers:
            row, values = papers[claim["paper"]].row(claim)
            sharing = setting_of(claim).get("lambda", "")
            model = f"λ = {sharing}" if sharing else words.methods.get(claim["method"], claim["method"])
            named = {"data": words.data_sets.get(claim["dataset"], claim["dataset"]), "model": model}
            if "says" in row:
                names = rows.Bound({**papers[claim["paper"]].file.names, **values}, {})
                words.sentences[claim["id"]] = names.filled(row["says"]).format_map(values | named)
            if "unit" in row:
                words.differences[claim["id"]] = row["unit"]
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
