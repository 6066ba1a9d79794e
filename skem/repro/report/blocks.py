"""Blocks of Markdown that templates quote."""

from __future__ import annotations

import pandas as pd

from skem.repro import papers
from skem.repro.drawing import captions
from skem.repro.names import NAMES
from skem.repro.render.format import interval, number, table
from skem.repro.report import headlines
from skem.repro.report.reference import Reference
from skem.repro.tables.pages import layouts

HEADLINES = (
    "Brackets hold 95% intervals: of a result like the paper's beside a number, of the difference that decides beside a statement. "
    "A difference above zero is as the paper says."
)
"""How to read the numbers of headlines."""

TABLE1 = r"pulford\.table1\.\w+\.p?skem_accuracy"
"""Ids of the accuracies in Table 1 of Pulford (2022)."""


def _table1(reference: Reference) -> pd.DataFrame:
    claims = reference.table("claims")
    return claims[claims["id"].str.fullmatch(TABLE1)].set_index("dataset")


def accuracies(reference: Reference) -> str:
    """Table 1 of Pulford (2022), with outcomes, nested accuracies and the best baseline."""
    evaluated = _table1(reference)
    lines = []
    for row in reference.table("table1").to_dict("records"):
        claim = evaluated.loc[row["dataset"]]
        nested, low, high = (float(row[f"nested{end}"]) for end in ("", "_low", "_high"))
        line = {"data set": NAMES[row["dataset"]], "paper": claim["value"]}
        line |= {"ours": number(claim["measured"], 2), "outcome": claim["outcome"]}
        line |= {"ours, nested": interval(nested, low, high)}
        best = f"{number(float(row['best_accuracy']), 2)}, {NAMES[row['best_method']]}"
        lines.append(line | {"best baseline": best})
    return table(pd.DataFrame(lines), padded=False)


def headline_list(reference: Reference, paper: str) -> str:
    """Headlines of a paper, or of all papers."""
    words, claims = reference.words, reference.table("claims")
    titles = papers.titles(reference.config)
    if paper == "all":
        blocks = {titles[name]: own for name, own in words.headlines.items() if own}
        return "\n\n".join(
            f"**{title}**\n\n{headlines.to_markdown(own, claims, words)}" for title, own in blocks.items()
        )
    own = words.headlines.get(paper)
    if not own:
        raise LookupError(f"config/claims/{paper}.yaml has no headlines")
    return f"{headlines.to_markdown(own, claims, words)}\n\n{HEADLINES}"


def conclusions(reference: Reference, paper: str) -> str:
    """Orderings and statements of a paper by outcome."""
    return headlines.conclusions(paper, reference.table("claims"), reference.words)


def figure(reference: Reference, name: str) -> str:
    """A figure with its caption, for a page in ``docs/reproduce/findings``."""
    caption = captions(reference.config.parent)[name]
    return f"![{caption['title']}](../../../results/reference/figures/{name}.svg)\n\n{caption['text']}"


def redrawn(reference: Reference, paper: str) -> str:
    """The paper's tables redrawn, as `figure` has them."""
    names = layouts(paper, reference.config)
    if not names:
        raise LookupError(f"there is no config/redrawn/{paper}.yaml")
    return "\n\n".join(figure(reference, name) for name in names)
