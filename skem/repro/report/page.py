"""The report: one HTML page of the results in a folder. It trains nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from skem.repro import papers
from skem.repro.config.documents import read_mapping
from skem.repro.drawing import captions
from skem.repro.files import read_json
from skem.repro.ledger import claims_page, outcomes, sentences, summary, totals
from skem.repro.names import NAMES
from skem.repro.protocols import LABELS
from skem.repro.render.format import table
from skem.repro.report import markup
from skem.repro.tables.pages import layouts

SUMMARIES = ("outcomes", "specifications")
"""Figures of the claims, which the page shows with the claims table."""


@dataclass(frozen=True)
class Part:
    """A table or figure of the page. Without ``shown``, the page names the command that produces it."""

    name: str
    title: str
    shown: Markup | None
    command: str = ""
    files: tuple[Path, ...] = ()
    caption: str = ""


class Results:
    """The folder of a run, which may be incomplete; ``project`` is the checkout, for titles, captions and the citation."""

    def __init__(self, folder: str | Path, project: str | Path = ".") -> None:
        self.folder, self.project = Path(folder), Path(project)
        self.config = self.project / "config"
        if not any(self.folder.glob("tables/*.md")) and not self.files("claims.csv"):
            raise ValueError(
                f"{self.folder} has neither tables nor claims to report. Produce them with `snakemake --cores all`, "
                "then the report with `snakemake report --cores all`."
            )

    def files(self, *names: str) -> tuple[Path, ...]:
        """Select the files that exist."""
        return tuple(path for name in names if (path := self.folder / name).exists())

    def text(self, name: str) -> str:
        """Content of a file, empty if it does not exist."""
        return "".join(path.read_text(encoding="utf-8") for path in self.files(name))

    def json(self, name: str) -> dict[str, Any]:
        """Content of a JSON file, empty if it does not exist."""
        return {key: value for path in self.files(name) for key, value in read_json(path).items()}

    def data(self) -> list[dict[str, Any]]:
        """Records of the data sets."""
        return [self.json(f"data/{path.name}") for path in sorted(self.folder.glob("data/*.json"))]

    def command(self, *experiments: str) -> str:
        """Command that produces these experiments in addition to those of the run."""
        run = next(map(read_mapping, self.files("configuration.yaml")), {})
        own = run.get("experiments", [])
        overlays = [name for name in self.json("run.json").get("config", []) if name != "config/config.yaml"]
        command = " ".join(["snakemake --cores all", *(["--configfile", *overlays] if overlays else [])])
        if set(experiments) <= set(own):
            return command
        return f"{command} --config 'experiments=[{', '.join(dict.fromkeys([*own, *experiments]))}]'"

    def tables(self) -> Iterator[Part]:
        """Tables of the papers' experiments in their order, then all others."""
        planned: list[str] = []
        for paper in papers.names(self.config):
            stated = read_mapping(self.config / f"{paper}.yaml")
            planned += [name for name in [stated.get("headlines"), *stated.get("studies", [])] if name]
        # The page has a claims table of its own, and shows times with their table.
        others = [path.stem for path in sorted(self.folder.glob("tables/*.md")) if path.stem not in planned]
        for name in [*planned, *(name for name in others if not name.endswith(("_claims", "_timing")))]:
            text = self.text(f"tables/{name}.md")
            times = self.text(f"tables/{name}_timing.md").partition("\n")[2]
            path = self.config / f"experiments/{name}.yaml"
            title = read_mapping(path)["title"] if path.exists() else text.partition("\n")[0].lstrip("# ")
            shown = markup.markdown(text + times, title) if text else None
            kinds = [f"{part}.{kind}" for part in ("", "_timing") for kind in ("csv", "md")]
            files = self.files(*(f"tables/{name}{kind}" for kind in [*kinds, "_summary.csv"]))
            yield Part(f"table-{name}", title, shown, self.command(name), files)

    def figure(self, name: str, command: str, folder: str = "figures") -> Part:
        caption, files = self._captions[name], (f"{folder}/{name}.{kind}" for kind in ("svg", "pdf", "csv"))
        path = self.folder / folder / f"{name}.svg"
        shown = markup.image(path, "{title}. {text}".format(**caption)) if path.exists() else None
        return Part(f"figure-{name}", caption["title"], shown, command, self.files(*files), caption["text"])

    @cached_property
    def _captions(self) -> dict[str, dict[str, str]]:
        return captions(self.project)

    def figures(self) -> dict[str, list[Part]]:
        """Figures by the title of their paper, in the order of their captions."""
        titles, shown = papers.titles(self.config), {*SUMMARIES}
        found: dict[str, list[Part]] = {}
        for paper in sorted(papers.names(self.config), key=lambda name: name != "pulford2022"):
            needs = {name: figure.needs for name, figure in papers.figures(paper).items()}
            if paper == "pulford2022":
                needs["table1_accuracy_by_iteration"] = ("table1",)
            # Figures of optional targets are shown if they exist.
            parts = {
                name: self.figure(name, self.command(*experiments))
                for name, experiments in (needs | dict.fromkeys(layouts(paper, self.config), ())).items()
                if name not in SUMMARIES and (experiments or self.files(f"figures/{name}.svg"))
            }
            found[titles[paper]] = [parts[name] for name in self._captions if name in parts]
            shown |= {*parts}
        names = [path.stem for path in sorted(self.folder.glob("figures/*.svg")) if path.stem not in shown]
        found["Other figures"] = [self.figure(name, "") for name in names]
        return {title: parts for title, parts in found.items() if parts}

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """Every claim of the results, with those about time."""
        paths = self.files("claims.csv", "claims_timing.csv")
        return (
            pd.concat([summary.read(path) for path in paths], ignore_index=True) if paths else pd.DataFrame()
        )

    @cached_property
    def claims(self) -> list[dict[str, Any]]:
        """Rows of the claims table in the order of `claims_page.in_order`, those that have no outcome last."""
        if not len(self.ledger):
            return []
        titles, words = papers.titles(self.config), sentences.read(self.config)
        kind = summary.kinds(self.ledger)
        table = self.ledger.assign(group=kind)
        counted, others = table[kind == summary.MEASURABLE], table[kind != summary.MEASURABLE]
        return [
            claims_page.shown(row, words)
            | {key: row[key] for key in ("id", "outcome", "detail", "expression", "remark")}
            | {"kind": row["group"], "paper_title": titles.get(row["paper"], row["paper"])}
            | {"dataset": words.data_sets.get(row["dataset"], row["dataset"])}
            | {"by": LABELS.get(row["measured_by"], row["measured_by"])}
            for row in pd.concat([claims_page.in_order(counted), others]).to_dict("records")
        ]


def _misses(found: totals.Totals, titles: Mapping[str, str]) -> Markup:
    """Render the tables of all papers: cells outside their intervals, beside those that a faithful copy would miss."""
    tables = [
        totals.by_table(found[name]).assign(paper=title) for name, title in titles.items() if name in found
    ]
    tables = [own for own in tables if len(own)]  # an empty table would turn counts into floats
    joined = pd.concat(tables) if tables else pd.DataFrame()
    title = "Cells of the papers' tables outside their intervals"
    return markup.markdown(table(joined[["paper", *joined.columns[:-1]]]), title) if len(joined) else Markup()


def write(results: Results) -> str:
    """Render the page."""
    loader = FileSystemLoader(results.project / "workflow/report")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["packed"] = markup.packed
    itables = find_spec("itables")
    if itables is None or itables.origin is None:
        raise ValueError("the report needs the package itables: pip install -e '.[pipeline]'")
    rows, citation = results.claims, results.project / "CITATION.cff"
    titles, found = papers.titles(results.config), results.json("summary.json")
    return environment.get_template("page.html.j2").render(
        results=results,
        names=NAMES,
        rows=rows,
        titles=titles,
        by_outcome=totals.by_outcome(found, titles) if found else None,
        by_kind=totals.by_kind(found, titles) if found else None,
        misses=_misses(found, titles),
        outcomes=[word for word in outcomes.OUTCOMES if any(row["outcome"] == word for row in rows)],
        kinds=[kind for kind in summary.KINDS if any(row["kind"] == kind for row in rows)],
        summaries=[results.figure(name, "") for name in SUMMARIES],
        guide=markup.markdown(f"{claims_page.GUIDE}\n\n{claims_page.NOTES}", ""),
        citation=read_mapping(citation),
        citation_file=citation,
        bundle=Path(itables.origin).parent / "html/dt_bundle.js",
    )
