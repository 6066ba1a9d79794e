"""Tables I to V of Titsias and Likas (2001), beside the paper's numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from skem.repro.ledger.estimates import Claim
from skem.repro.ledger.stated_claims import setting_of
from skem.repro.papers.measured import Tables
from skem.repro.papers.titsias2001.settings import Settings, name_of

METHODS = {"rbf_two_stage": "rbf", "prbf_average": "averaging"}
"""Our names of the claims' methods without a lambda."""


def method_of(claim: Claim) -> str:
    """Name the method of a cell."""
    return METHODS.get(claim["method"]) or name_of(float(setting_of(claim)["lambda"]))


def cells(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the paper's tables; ``paper_std`` is over folds."""
    own = claims[
        (claims["paper"] == "titsias2001")
        & (claims["kind"] == "number")
        & (claims["quantity"] == "error_pct")
    ]
    return pd.DataFrame(
        {
            "id": claim["id"],
            "dataset": claim["dataset"],
            "method": method_of(claim),
            "n_components": int(setting_of(claim)["n_components"]),
            "paper": float(claim["value"]),
            "paper_std": float(claim["spread"]),
        }
        for claim in own.to_dict("records")
        if "n_components" in setting_of(claim)
    )


def values(tables: Tables, *_: Any) -> dict[str, pd.DataFrame]:
    """Return means over the folds of a repetition, standard deviations over these folds (mean of repetitions), and the examples."""
    errors, examples = tables["errors"], tables["examples"]
    if not len(errors):
        return {**dict.fromkeys(("values", "spreads", "timing"), errors), "examples": examples}
    cell = ["dataset", "method", "n_components"]
    by_run = errors.groupby([*cell, "run"], sort=False)
    spreads = by_run["error"].std(ddof=1).groupby(cell, sort=False).agg(std="mean", n_runs="size")
    return {
        "values": by_run[["error", "own_group", "shared"]].mean().reset_index(),
        "spreads": spreads.reset_index(),
        "timing": by_run[["seconds"]].mean().reset_index(),
        "examples": examples,
    }


def tables(tables: Tables, stated: pd.DataFrame, paper: Settings) -> dict[str, Any]:
    """Return Tables I to V, and what ``config/tables/titsias2001.yaml`` lays out."""
    found = summary(tables["errors"], cells(stated), paper)
    titles = {name: entry["title"] for name, entry in paper.tables.items()}
    shown = found.assign(
        title=found["dataset"].map(titles),
        method_title=found["method"].map(paper.methods),
        reason=[f"Not available: {reason}." if reason else "" for reason in found["not_available"]],
    )
    repetitions = [entry.get("repetitions", paper.repetitions) for entry in paper.measured.values()]
    names = {"least": min(repetitions), "most": max(repetitions)}
    return {"csv": found, "names": names, "cells": shown}


def summary(errors: pd.DataFrame, printed: pd.DataFrame, paper: Settings) -> pd.DataFrame:
    """Return the cells of all tables beside the paper's; ``std`` is over the folds of a repetition, ``se`` over repetitions."""
    rows = []
    for name, entry in paper.tables.items():
        own = dict(list(errors[errors["dataset"] == name].groupby(["method", "n_components"])))
        for cell in printed[printed["dataset"] == entry.get("source", name)].to_dict("records"):
            del cell["id"]
            row = {"table": entry["table"], **cell, "dataset": name}
            found = own.get((cell["method"], cell["n_components"]))
            if found is None:
                rows.append(row | {"not_available": entry.get("not_available", "not part of this run")})
                continue
            by_run = found.groupby("run")["error"]
            runs = by_run.mean()
            row |= {
                "error": runs.mean(),
                "std": by_run.std(ddof=1).mean(),
                "se": runs.sem(),
                "n_runs": len(runs),
            }
            rows.append(row | {"not_available": ""})
    return pd.DataFrame(rows)
