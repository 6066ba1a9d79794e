"""Seconds per iteration of several implementations, as one table and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter

import numpy as np
import pandas as pd

RATIO = "{ratio:.2f} [{ratio_low:.2f}, {ratio_high:.2f}]"
SIZES = {
    "size": "{size}: {N:.0f} x {m:.0f}, K = {K:.0f}",
    "dtype": "{dtype}",
    "threads": "{threads:.0f}",
    "engine": "{engine}",
    "s per iteration": "{seconds_per_iteration:.4f}",
    "ratio": RATIO,
    "log-likelihood": "{log_likelihood:.6f}",
    "ours": "{ours:.6f}",
}
ABOUT_SIZES = (
    "Full covariances except *diag*. Ratio: time divided by that of skem (of *skem, diag* for *diag*) in the same round; in "
    "brackets the 95% interval of the median, or the range of fewer than six rounds. Log-likelihood: mean per sample, "
    "computed by scikit-learn from the fitted parameters. *Ours* is that of skem after as many iterations from the same "
    "initialisation. mlpack's binding takes no initialisation but its own k-means, so its value differs. Without AVX-512, "
    "oneDAL's own loops still use it; its matrix products do not."
)
PROCESS = {"OpenBLAS, NumPy": "{openblas}, {numpy}", "threads": "{threads:.0f}", "dtype": "{dtype}"}
SUPERVISED = {
    "data set": "{dataset}",
    **PROCESS,
    "paper": "{paper_seconds:g}",
    "ours": "{seconds_per_iteration:.4f}",
    "ratio": "{ratio:.0f} [{ratio_low:.0f}, {ratio_high:.0f}]",
}
BESIDE = {
    "data set": "{dataset}: {N:.0f} x {m:.0f}, K = {K:.0f}",
    "initialisation": "{init}",
    **PROCESS,
    "dtype used": "{dtype_used}",
    "skem": "{seconds_per_iteration:.4f}",
    "engine": "{engine}",
    "its seconds": "{engine_seconds:.4f}",
    "ratio": RATIO,
}
ABOUT_BESIDE = (
    "The first feature block of the paper's model, beside an engine that does not use classes. With the "
    'paper\'s initialisation, "uniform", classes share components; with "class", each class keeps its own.'
)
OTHERS = {
    "supervised": ("## Supervised EM with the configurations of Table 1, seconds per iteration", SUPERVISED),
    "beside": (f"## Supervised EM beside another engine, seconds per iteration\n\n{ABOUT_BESIDE}", BESIDE),
    "exponents": (
        "## Seconds per iteration grow with this power of the size",
        {"size": "{size}", "engine": "{engine}", "exponent": "{exponent:.2f}"},
    ),
}


def collect(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join what was measured, with the exponents of the scaling."""
    table = pd.concat(parts, ignore_index=True)
    slower = (table["part"] == "scaling") & (table["instructions"] == "AVX2")
    table.loc[slower, "engine"] += ", AVX2"
    return pd.concat([table, exponents(table[table["part"] == "scaling"])], ignore_index=True)


def exponents(scaling: pd.DataFrame) -> pd.DataFrame:
    """Slope of log seconds against log N, log K and log H per engine.

    Over the upper half of the sizes: in the lower half, the constant cost of an iteration still shows.
    """
    rows = []
    measured = scaling[scaling["seconds_per_iteration"] > 0]  # noise can exceed small times
    for (axis, engine), table in measured.groupby(["size", "engine"], sort=False):
        size = table[axis] if axis != "m" else 1 + table["m"] + table["m"] * (table["m"] + 1) // 2
        upper = size >= size.median()
        if upper.sum() > 1:
            slope = np.polyfit(np.log(size[upper]), np.log(table["seconds_per_iteration"][upper]), 1)[0]
            name = "H" if axis == "m" else axis
            rows.append({"part": "exponents", "size": name, "engine": engine, "exponent": float(slope)})
    return pd.DataFrame(rows)


def to_markdown(table: pd.DataFrame) -> str:
    """Show ``results/peers.csv`` as the tables of ``results/peers.md``."""
    parts = {str(name): part for name, part in table.groupby("part", sort=False)}
    # The first engine of each group is ours.
    sizes = parts.pop("sizes")
    sizes = sizes.assign(ours=sizes["log_likelihood"].where(sizes["engine"].str.startswith("skem")).ffill())
    text = ["## EM for Gaussian mixtures, seconds per iteration"]
    labels = ["size", "dtype", "threads"]
    for (_, openblas, numpy), part in sizes.groupby(["instructions", "openblas", "numpy"], sort=False):
        text.append(f"**{part['processor'].iloc[0]}, OpenBLAS {openblas}, NumPy {numpy}**")
        # Ours is in every group.
        shown = part.drop_duplicates([*labels, "engine"]).sort_values(labels, kind="stable")
        text.append(_markdown(shown, SIZES))
    text.append(ABOUT_SIZES)
    for name, (heading, columns) in OTHERS.items():
        if name in parts:
            text += [heading, _markdown(parts[name], columns)]
    return "\n\n".join(text) + "\n"


def _markdown(table: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """Format rows by column; the note replaces the first cell without a value."""
    lines = []
    for row in table.to_dict("records"):
        notes, line = iter([row["note"]]), {}
        for heading, form in columns.items():
            fields = [field for _, field, *_ in Formatter().parse(form) if field]
            known = not any(pd.isna(row[field]) for field in fields)
            line[heading] = form.format(**row) if known else next(notes, "")
        lines.append(line)
    return pd.DataFrame(lines).to_markdown(index=False, disable_numparse=True)
