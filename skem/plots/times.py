"""Seconds of engines by size."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from skem.plots._panels import MARKS, check, grid, inches

if TYPE_CHECKING:
    import pandas as pd


def engine_scaling(peers: pd.DataFrame, *, columns: int | None = None, width: float | None = None) -> Any:
    """Seconds per iteration of EM against N, m and K, with the exponents fitted to them.

    Parameters
    ----------
    peers : DataFrame
        With columns part, size, engine, N, m, K, seconds_per_iteration and exponent, like ``results/reference/peers.csv``.
        Rows of part "scaling" are drawn: seconds_per_iteration of an engine where the quantity that size names, "N", "m" or
        "K", varies. Rows of part "exponents" have the exponent of N, H (for m) or K.
    columns, width
        See `skem.plots`.

    Returns
    -------
    array of Axes
    """
    check(
        peers,
        "engine_scaling",
        labels=("part", "size", "engine"),
        numbers=("N", "m", "K", "seconds_per_iteration", "exponent"),
    )
    scaling, exponents = (peers[peers["part"] == part] for part in ("scaling", "exponents"))
    width = inches(columns, width, 10.0)
    across = 3 if width >= 6 else 1
    axes = grid(3 // across, across, width, 0.95 if across == 3 else 0.75, sharey=across == 3)
    for ax, axis in zip(axes.flat, ("N", "m", "K"), strict=True):
        own = scaling[scaling["size"] == axis].dropna(subset="seconds_per_iteration")
        name = "H" if axis == "m" else axis
        for (marker, dash), (engine, table) in zip(
            cycle(MARKS), own.groupby("engine", sort=False), strict=False
        ):
            found = exponents[(exponents["size"] == name) & (exponents["engine"] == engine)]["exponent"]
            power = f", ~{name}^{found.iloc[0]:.2f}" if len(found) else ""
            ax.loglog(
                table[axis], table["seconds_per_iteration"], dash, marker=marker, label=f"{engine}{power}"
            )
        others = own[["N", "m", "K"]].drop(columns=axis).iloc[0] if len(own) else {}
        ax.set_title(
            ", ".join(f"{key} = {value:.0f}" for key, value in dict(others).items()), fontsize="medium"
        )
        ax.set_xlabel({"N": "samples N", "m": "features m", "K": "components K"}[axis])
        if axis != "N":
            values = sorted(own[axis].unique())
            ax.set_xticks(values, [f"{value:.0f}" for value in values])
            ax.set_xticks([], minor=True)
        ax.legend(fontsize="x-small")
    for ax in axes[:, 0]:
        ax.set_ylabel("seconds per iteration")
    return axes
