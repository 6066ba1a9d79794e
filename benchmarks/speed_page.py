"""Write the tables of docs/reproduce/speed.md from results/reference/peers*.csv: python -m benchmarks.speed_page

Each table stands between the markers of its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from skem.repro.files import plain_errors, read_table, write_text
from skem.repro.names import NAMES
from skem.repro.render import format

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results/reference"
PAGE = ROOT / "docs/reproduce/speed.md"
OTHERS = ("oneDAL", "scikit-learn-intelex", "scikit-learn", "Armadillo", "mlpack", "mclust")
THREADS = 2


def size(row: pd.Series) -> str:
    return f"{row['N']:,.0f} x {row['m']:.0f}, K = {row['K']:.0f}"


def data(row: pd.Series) -> str:
    return f"{row['clusters']:.0f} clusters" if row["clusters"] else "overlapping"


def keys(row: pd.Series) -> dict[str, str]:
    """The first columns of tables by size."""
    return {"samples x features, components": size(row), "data": data(row), "dtype": row["dtype"]}


def of_sizes(part: pd.DataFrame) -> pd.DataFrame:
    """A row per size and dtype: our time, and the ratios of the others to it."""
    rows = []
    for _, cell in part.groupby(["N", "m", "K", "clusters", "dtype"], sort=False):
        found = cell.drop_duplicates("engine").set_index("engine")  # ours may be in several rows
        ours = found.loc["skem"]
        row = keys(ours) | {"skem": f"{1e3 * ours['seconds_per_iteration']:.3g} ms"}
        for other in OTHERS:
            if other in found.index and pd.notna(found.loc[other, "version"]):  # installed
                ratio = found.loc[other, "ratio"]
                row[other] = format.number(ratio, 1 if ratio < 5 else 0, missing="failed")
        rows.append(row)
    return pd.DataFrame(rows)


def machines(shown: pd.DataFrame) -> pd.DataFrame:
    """Processor, commit, rounds and versions behind the tables of each kind of instructions."""
    rows = []
    for instructions, own in shown.groupby("instructions", sort=False):
        others = own[own["version"].notna() & (own["engine"] != "skem")]
        versions = others.drop_duplicates("engine").set_index("engine")["version"]
        rows.append(
            {
                "instructions": instructions,
                "processor": own["processor"].iloc[0],
                "commit of skem": own["commit"].iloc[0],
                "rounds": f"{own.loc[own['engine'] == 'oneDAL', 'rounds'].max():.0f}",
                "other implementations": ", ".join(f"{name} {version}" for name, version in versions.items()),
            }
        )
    return pd.DataFrame(rows)


def closest(peers: pd.DataFrame) -> pd.DataFrame:
    """The five smallest ratios to oneDAL."""
    beside = peers[
        peers["engine"].isin(["oneDAL", "oneDAL, AVX2"]) & peers["part"].isin(["sizes", "scaling"])
    ]
    return pd.DataFrame(
        keys(row)
        | {
            "instructions": row["instructions"],
            "oneDAL / skem": f"{row['ratio']:.2f}",
            "range of rounds": f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}",
        }
        for _, row in beside.sort_values("ratio").head(5).iterrows()
    )


def of_another_processor(peers: pd.DataFrame) -> pd.DataFrame:
    """Ratios of others to ours and their ranges, a column per kind of instructions."""
    parts = {"sizes": "EM", "kmeans": "k-means"}
    rows = []
    for (_, _, _, other), cell in peers[peers["engine"] != "skem"].groupby(
        ["part", "size", "dtype", "engine"], sort=False
    ):
        row = {"": parts[cell["part"].iloc[0]], "other": other} | keys(cell.iloc[0])
        for instructions, found in cell.set_index("instructions").iterrows():
            row[str(instructions)] = (
                f"{found['ratio']:.2f} [{found['ratio_low']:.2f}, {found['ratio_high']:.2f}]"
            )
        rows.append(row)
    return pd.DataFrame(rows)


def of_models(classes: pd.DataFrame) -> pd.DataFrame:
    """Times of the models of Table 1 of Pulford (2022), with the first of the instructions."""
    first = classes["instructions"].iloc[0]
    whole = classes[(classes["other"] == "the paper") & (classes["instructions"] == first)]
    return pd.DataFrame(
        {
            "data set": whole["dataset"].map(NAMES),
            "skem": [f"{seconds:.2g} s" for seconds in whole["seconds_per_iteration"]],
            "the paper": [f"{seconds:g} s" for seconds in whole["other_seconds"]],
        }
    )


def of_first_blocks(classes: pd.DataFrame) -> pd.DataFrame:
    """Ratios of oneDAL to ours on the first feature blocks of these models."""
    blocks = classes[classes["other"] != "the paper"]
    names = [f"{NAMES[row['dataset']]}: {size(row)}" for _, row in blocks.iterrows()]
    shown = blocks.assign(ratio=[format.number(ratio, ".2g", missing="failed") for ratio in blocks["ratio"]])
    shown = shown.assign(**{"first feature block": names})
    index = ["first feature block", "init"]
    return shown.pivot_table("ratio", index, "instructions", "first", sort=False).reset_index()


def tables(reference: Path = REFERENCE) -> dict[str, str]:
    """Tables of the page in Markdown, by the name of their markers."""
    names = "peers", "peers_classes", "peers_intel"
    peers, classes, intel = (read_table(reference / f"{name}.csv") for name in names)
    # The file may also have times of one thread, and of diagonal covariances.
    shown = peers[peers["part"].isin(["sizes", "kmeans"]) & (peers["threads"] == THREADS)]
    shown = shown[~shown["engine"].str.contains("diag")]
    found = {
        f"{part}, {instructions}": of_sizes(own)
        for (part, instructions), own in shown.groupby(["part", "instructions"], sort=False)
    }
    found |= {
        "machines": machines(shown),
        "closest": closest(peers),
        "Intel": of_another_processor(intel),
        "models": of_models(classes),
        "blocks": of_first_blocks(classes),
    }
    return {name: format.table(table, missing="", padded=False) for name, table in found.items()}


def rewritten(page: str, tables: Mapping[str, str]) -> str:
    """The page with these tables; ValueError if one has no markers."""
    markers = re.findall(r"^<!-- /(.+) -->$", page, flags=re.MULTILINE)
    if not set(markers) >= set(tables):
        raise ValueError(f"{PAGE} has markers of the tables {sorted(markers)}; needed are {sorted(tables)}")
    for name in markers:
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        table = tables.get(name, "Not measured.")
        page = page[: page.index(begin)] + begin + table + "\n" + page[page.index(end) :]
    return page


if __name__ == "__main__":
    with plain_errors():
        write_text(PAGE, rewritten(PAGE.read_text(encoding="utf-8"), tables()))
