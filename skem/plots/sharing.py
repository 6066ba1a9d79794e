"""Components in the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skem.plots._panels import NARROW, add_legend, check, grid, inches

if TYPE_CHECKING:
    import pandas as pd


def shared_components(table: pd.DataFrame, *, columns: int | None = None, width: float | None = None) -> Any:
    """Samples of a plane by class, and spherical components as circles of one standard deviation (as in Titsias and Likas
    2001, Figs. 3 to 5).

    Parameters
    ----------
    table : DataFrame
        With columns panel (its title), class (from 0: of a sample, or the only class that uses a component; NaN: several classes), x, y, and
        radius (one standard deviation of a component; NaN marks a sample).
    columns, width
        See `skem.plots`.

    Returns
    -------
    ndarray of Axes
        Two panels beside each other where there is room.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Circle

    check(table, "shared_components", labels=("panel",), numbers=("class", "x", "y", "radius"))
    panels = list(table.groupby("panel", sort=False))
    width = inches(columns, width, 9.0)
    across = min(len(panels), 1 + (width / 2 > NARROW))
    axes = grid(-(-len(panels) // across), across, width, 0.66, legend=0.4)
    # Every other colour of the style, since neighbours may be shades of one.
    for ax, (title, part) in zip(axes.flat, panels, strict=False):
        # The radius of a component is in both axes the same length.
        ax.set_aspect("equal", adjustable="datalim")
        rows = part[part["radius"].isna()]
        for c, own in rows.groupby("class"):
            ax.plot(
                own["x"],
                own["y"],
                linestyle="",
                marker="o+^x"[int(c) % 4],
                markersize=3 if c == 0 else 5,
                color=f"C{2 * int(c)}",
                alpha=0.5,
                label=f"class {int(c) + 1}",
                rasterized=True,  # thousands of them make a file of half a megabyte
            )
        for component in part[part["radius"].notna()].to_dict("records"):
            c = component["class"]
            colour, dash = plt.rcParams["text.color"], "-"
            if not np.isnan(c):
                colour, dash = f"C{2 * int(c)}", ("--", "-.", ":")[int(c) % 3]
            centre = component["x"], component["y"]
            look = {"fill": False, "linewidth": 2.2, "color": colour, "linestyle": dash, "zorder": 3}
            ax.add_patch(Circle(centre, component["radius"], **look))
            ax.plot(*centre, marker="x", color=colour, markersize=7, markeredgewidth=2, zorder=3)
        ax.set_title(str(title).replace(": ", ":\n"), fontsize="small")
        ax.set_xlabel("feature 1", fontsize="small")
        ax.set_ylabel("feature 2", fontsize="small")
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    add_legend(axes.flat[0].figure, width, 1.2)
    return axes
