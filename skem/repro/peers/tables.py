"""What was measured of several engines, as tables to read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def exponents(scaling: pd.DataFrame) -> pd.DataFrame:
    """Slope of log seconds against log N, log K and log H, over the upper half of the sizes, per engine.

    In the lower half what every pass costs, whatever its size, is still in sight.
    """
    rows = []
    for (axis, engine), table in scaling.dropna(subset="seconds_per_pass").groupby(
        ["size", "engine"], sort=False
    ):
        size = table[axis] if axis != "m" else 1 + table["m"] + table["m"] * (table["m"] + 1) // 2
        upper = size >= size.median()
        if upper.sum() > 1:
            slope = np.polyfit(np.log(size[upper]), np.log(table["seconds_per_pass"][upper]), 1)[0]
            rows.append({"size": "H" if axis == "m" else axis, "engine": engine, "exponent": float(slope)})
    return pd.DataFrame(rows, columns=["size", "engine", "exponent"])


def to_markdown(
    sizes: pd.DataFrame, exponents: pd.DataFrame, supervised: pd.DataFrame, beside: pd.DataFrame
) -> str:
    """The tables of ``results/peers.md``."""
    text = ["## EM for Gaussian mixtures, seconds per pass"]
    labels = ["kernels", "size", "dtype", "threads"]
    # Groups of engines run for different numbers of passes, each with an engine of ours first.
    ours = sizes["log_likelihood"].where(sizes["engine"].str.startswith("skem")).ffill()
    sizes = sizes.assign(ours=ours)
    for (_, kernel, numpy), part in sizes.groupby(["kernels", "kernel", "numpy"], sort=False):
        text.append(f"**{part['processor'].iloc[0]}, OpenBLAS {kernel}, NumPy {numpy}**")
        # The engine to compare with is in every group; once is enough.
        shown = part.drop_duplicates([*labels, "engine"]).sort_values(labels[1:], kind="stable")
        text.append(_markdown([_line(row) for row in shown.to_dict("records")]))
    text.append(
        "Full covariances but for *diag*. Ratio: to skem (to *skem, diag* for the diagonal ones) in the same round, "
        "above one is slower; in brackets the 95% interval of the median, or the range where there are fewer than six "
        "rounds. Log-likelihood: mean per row, computed by scikit-learn from the parameters of the engine, and beside it "
        "from those of skem after the same number of passes from the same start; mlpack's binding takes no start and begins with a k-means of its own, "
        "so its value is another's. Share: of the rate that the two matrix products of a pass alone reach in BLAS, 512 rows at "
        "a time and on as many threads; up to 48 components ours makes none, and can be above. Without AVX-512 oneDAL's own loops keep it, which has no switch for them; "
        "its matrix products do not."
    )
    if len(supervised):
        text += ["## Supervised EM at the settings of Table 1, seconds per pass"]
        lines = [
            {
                "data set": row["dataset"],
                "OpenBLAS, NumPy": f"{row['kernel']}, {row['numpy']}",
                "threads": row["threads"],
                "dtype": row["dtype"],
                "paper": f"{row['paper_seconds']:g}",
                "here": f"{row['seconds_per_pass']:.4f}",
                "ratio": f"{row['ratio']:.0f} [{row['ratio_low']:.0f}, {row['ratio_high']:.0f}]",
                "without active sets": f"{row['seconds_without_active_sets']:.4f}",
                "gain": f"{row['gain']:.2f} [{row['gain_low']:.2f}, {row['gain_high']:.2f}]",
            }
            for row in supervised.to_dict("records")
        ]
        text.append(_markdown(lines))
    if len(beside):
        first = beside.iloc[0]
        text += [
            f"## Supervised EM beside {first['engine']}, seconds per pass",
            f"The first block of the paper's model, rows in {first['dtype']}. {first['engine']} knows of no classes. From "
            '"uniform", the paper\'s start, classes share components; from "class" each keeps its own.',
        ]
        lines = [
            {
                "data set": f"{row['dataset']}: {row['N']} x {row['m']}, K = {row['K']}",
                "start": row["start"],
                "OpenBLAS, NumPy": f"{row['kernel']}, {row['numpy']}",
                "threads": row["threads"],
                "dtype used": row["dtype_used"],
                "skem": f"{row['seconds_per_pass']:.4f}",
                row["engine"]: f"{row['engine_seconds']:.4f}" if row["ratio"] > 0 else row["note"],
                "ratio": f"{row['ratio']:.2f} [{row['ratio_low']:.2f}, {row['ratio_high']:.2f}]"
                if row["ratio"] > 0
                else "",
            }
            for row in beside.to_dict("records")
        ]
        text.append(_markdown(lines))
    if len(exponents):
        lines = [row | {"exponent": f"{row['exponent']:.2f}"} for row in exponents.to_dict("records")]
        text += ["## Seconds per pass grow with this power of the size", _markdown(lines)]
    return "\n\n".join(text) + "\n"


def _line(row: dict[str, Any]) -> dict[str, str]:
    line = {"size": f"{row['size']}: {row['N']} x {row['m']}, K = {row['K']}", "dtype": row["dtype"]}
    line |= {"threads": str(row["threads"]), "engine": row["engine"]}
    if np.isnan(row["seconds_per_pass"]):
        return line | {"s per pass": row["note"]}
    ratio = f"{row['ratio']:.2f} [{row['ratio_low']:.2f}, {row['ratio_high']:.2f}]"
    share = "" if np.isnan(row["share"]) else f"{100 * row['share']:.0f}%"
    return line | {
        "s per pass": f"{row['seconds_per_pass']:.4f}",
        "ratio": ratio,
        "log-likelihood": f"{row['log_likelihood']:.6f}",
        "ours": f"{row['ours']:.6f}",
        "share": share,
    }


def _markdown(lines: list[dict[str, Any]]) -> str:
    return pd.DataFrame(lines).fillna("").to_markdown(index=False, disable_numparse=True)
