"""One page of what a run left: claims, tables, figures, and how they came about. Trains nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError
from markupsafe import Markup

from skem.repro import papers
from skem.repro.ledger import sentences, summary, verdicts
from skem.repro.ledger.links import MEASUREMENT
from skem.repro.names import NAMES
from skem.repro.report import markup, prose

LARGE = 10_000
"""Bytes up to which a file is carried as it is, to be had without a script."""

REMARK = 160
"""Letters of a remark that are shown at once, where they end a part of it."""

FINDINGS = ("fails", "worse", "higher", "lower", "better")
"""Verdicts that differ from the paper; they come first."""

TABLE1 = re.compile(r"table1\.\w+\.p?skem_accuracy")
"""The accuracies of Table 1 of Pulford (2022)."""

ABSENT = "missing"
"""Verdict of a claim that the results do not have, for instance since it is younger."""


@dataclass(frozen=True)
class Download:
    """A file that the page carries."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def url(self) -> Markup:
        return markup.data_url(self.path)

    @property
    def packed(self) -> Markup | None:
        """Of a larger file, what the page's script unpacks when it is asked for; such files are most of the page else."""
        return markup.packed(self.path) if self.path.stat().st_size > LARGE else None

    @property
    def kind(self) -> str:
        return markup.kind(self.path)

    @property
    def size(self) -> str:
        return f"{max(1, round(self.path.stat().st_size / 1000))} kB"


@dataclass(frozen=True)
class Gap:
    """Why something is missing, and the command that makes it."""

    why: str
    how: str


@dataclass(frozen=True)
class Part:
    """A table or figure, or the gap where it would be.

    Attributes
    ----------
    name, title : str
    shown : Markup
    caption : str
    gap : Gap
        Where there is nothing to show.
    downloads : tuple of Download
    """

    name: str
    title: str
    shown: Markup | None = None
    caption: str = ""
    gap: Gap | None = None
    downloads: tuple[Download, ...] = ()


class Results:
    """The folder a run wrote, as far as the run came.

    Parameters
    ----------
    folder : path
        ``results``, or a copy such as ``results/reference``.
    project : path
        The checkout, for titles, captions, claims and how to cite.

    Raises
    ------
    ValueError
        If there is nothing to show, or a file is not what a run writes.
    """

    def __init__(self, folder: str | Path, project: str | Path = ".") -> None:
        self.folder, self.project = Path(folder), Path(project)
        if not any(self.folder.glob("tables/*.md")) and not (self.folder / "claims.csv").exists():
            raise ValueError(
                f"{self.folder} has neither tables nor verdicts to report; `snakemake --cores all` makes them, "
                "and `snakemake report --cores all` then makes the report"
            )

    def _text(self, name: str) -> str | None:
        path = self.folder / name
        return path.read_text(encoding="utf-8") if path.exists() else None

    def _json(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads(self._text(name) or "{}"))
        except ValueError as error:
            raise ValueError(
                f"{self.folder / name} is not JSON ({error}); delete it and run again"
            ) from error

    @cached_property
    def run(self) -> dict[str, Any]:
        return self._json("run.json")

    @property
    def configuration_files(self) -> list[str]:
        """As given, but for the checkout's own folder."""
        home = f"{self.project.resolve().as_posix()}/"
        return [name.removeprefix(home) for name in self.run.get("config", [])]

    @cached_property
    def environment(self) -> dict[str, Any]:
        return self._json("environment.json")

    @cached_property
    def configuration(self) -> str | None:
        """The YAML of the run's configuration, overlays and options merged in."""
        return self._text("configuration.yaml")

    @cached_property
    def experiments(self) -> list[str] | None:
        """Those of the run; None where it is not written down."""
        if self.configuration:
            return yaml.safe_load(self.configuration).get("experiments")
        return self.run.get("experiments")

    @property
    def finished(self) -> str:
        """When its last table was written, as far as files tell."""
        if "finished" in self.run:
            return str(self.run["finished"])
        paths = [*self.folder.glob("tables/*.csv"), *self.folder.glob("claims.csv")]
        newest = max((path.stat().st_mtime for path in paths), default=0.0)
        return datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%d %H:%M UTC")

    @property
    def data(self) -> list[dict[str, Any]]:
        return [self._json(f"data/{path.name}") for path in sorted(self.folder.glob("data/*.json"))]

    def files(self, *names: str) -> tuple[Download, ...]:
        """Those of these that are there."""
        return tuple(Download(path) for name in names if (path := self.folder / name).exists())

    def _gap(self, experiments: tuple[str, ...]) -> Gap:
        """Why something that needs these experiments is not there, and the run that has it too."""
        overlays = [name for name in self.configuration_files if name != "config/config.yaml"]
        again = " ".join(["snakemake --cores all", *(["--configfile", *overlays] if overlays else [])])
        ran = self.experiments or []
        if ran and set(experiments) <= set(ran):
            return Gap("This run has not finished", again)
        wanted = ", ".join(dict.fromkeys([*ran, *experiments]))
        return Gap("Not part of this run", f"{again} --config 'experiments=[{wanted}]'")

    @cached_property
    def titles(self) -> dict[str, str]:
        """Of the experiments with a table, in the order of config/paper.yaml, then of other tables by their heading."""
        config = self.project / "config"
        order = yaml.safe_load((config / "paper.yaml").read_text(encoding="utf-8"))["experiments"]
        # Verdicts on one paper's claims stand in the ledger, times with their table.
        others = [
            path.stem
            for path in sorted(self.folder.glob("tables/*.md"))
            if path.stem not in order and not path.stem.endswith(("_claims", "_timing"))
        ]
        found = {}
        for name in [*order, *others]:
            path = config / "experiments" / f"{name}.yaml"
            if path.exists():
                found[name] = yaml.safe_load(path.read_text(encoding="utf-8"))["title"]
            else:
                found[name] = (self._text(f"tables/{name}.md") or name).partition("\n")[0].lstrip("# ")
        return found

    def table(self, name: str, level: int = 4) -> Part:
        """The table of an experiment, to be read, with headings at a level of the page's."""
        title, text = self.titles[name], self._text(f"tables/{name}.md")
        kinds = ("csv", "md", "tex")
        files = [f"tables/{name}{what}.{kind}" for what in ("", "_timing") for kind in kinds]
        if text is None:
            return Part(name, title, gap=self._gap((name,)))
        # Times stand in a file of their own, and here below the rest; its heading is not needed again.
        _, _, times = (self._text(f"tables/{name}_timing.md") or "").partition("\n")
        shown = markup.markdown(text + times, title, level)
        return Part(name, title, shown, downloads=self.files(*files, f"tables/{name}_summary.csv"))

    def text(self, name: str, title: str, how: str) -> Part:
        """Another Markdown file, whose CSV stands elsewhere in the page."""
        text = self._text(f"{name}.md")
        if text is None:
            return Part(name, title, gap=Gap("Not part of this run", how))
        return Part(name, title, markup.markdown(text, title), downloads=self.files(f"{name}.md"))

    def caption(self, name: str) -> tuple[str, str]:
        """Title and text of a figure: the first line of its caption, and the rest."""
        path = self.project / "workflow/report" / f"{name}.rst"
        title, _, rest = path.read_text(encoding="utf-8").strip().partition("\n")
        return title.strip("*"), " ".join(rest.split())

    def _figure(self, name: str, stem: str, caption: str, gap: Gap) -> Part:
        title, text = self.caption(caption)
        files = self.files(*(f"{stem}.{kind}" for kind in ("svg", "pdf", "csv")))
        path = self.folder / f"{stem}.svg"
        if not path.exists():
            return Part(name, title, caption=text, gap=gap, downloads=files)
        return Part(name, title, markup.inline_svg(path, f"{title}. {text}"), text, downloads=files)

    def figures(self) -> Iterator[Part]:
        """Accuracy by pass of the tables that have it, then the trade-offs, then what else there is."""
        suffix = "_accuracy_by_pass"
        there = [path.stem.removesuffix(suffix) for path in self.folder.glob(f"figures/*{suffix}.svg")]
        for name in sorted({"table1", *there}):
            stem = f"{name}{suffix}"
            yield self._figure(stem, f"figures/{stem}", "accuracy_by_pass", self._gap((name,)))
        for paper in papers.names():
            for name, figure in papers.load(paper).FIGURES.items():
                # What no experiment of a run leads to is shown where it is there.
                if figure.needs or (self.folder / f"figures/{name}.svg").exists():
                    yield self._figure(name, f"figures/{name}", name, self._gap(figure.needs))

    def findings(self) -> list[Part]:
        """What is concluded from the committed results; of others nothing is."""
        if self.folder.resolve() != (self.project / "results/reference").resolve():
            return []
        found = []
        for path in sorted((self.project / "docs/reproduce/findings").glob("*[0-9].md")):
            text = prose.plain(path.read_text(encoding="utf-8"))
            title = text.partition("\n")[0].lstrip("# ")
            found.append(Part(path.stem, title, markup.markdown(text, title)))
        return found

    def compared(self) -> list[Part]:
        """Headline accuracies under every reading, and every accuracy beside the papers', where they are there."""
        gap = Gap("This run has not finished", "snakemake --cores all")
        names = ("specifications", "paper_and_here")
        return [self._figure(name, f"figures/{name}", name, gap) for name in names]

    def peers_figure(self) -> Part:
        gap = Gap("Not part of this run", "snakemake peers --cores all")
        return self._figure("peers", "peers", "peers", gap)

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """Every claim: those of the results, those about time, and those that the results lack."""
        paths = [self.folder / name for name in ("claims.csv", "claims_timing.csv")]
        parts = [summary.read(path) for path in paths if path.exists()]
        stated = pd.read_csv(self.project / "config/claims.csv", dtype=str, keep_default_na=False)
        known = {name for part in parts for name in part["id"]}
        absent = stated[~stated["id"].isin(known)].assign(
            verdict=ABSENT, measured_by="", remark="", basis=MEASUREMENT, repeats="", depends_on=""
        )
        numbers = dict.fromkeys(("measured", "low", "high"), float("nan"))
        return pd.concat([*parts, absent.assign(**numbers)], ignore_index=True)

    def claims(self) -> list[dict[str, Any]]:
        """The ledger, a row as a reader sees it: what was measured first, and of that what differs from the paper."""
        config = self.project / "config"
        titles = papers.titles(config)
        words = sentences.read(config)
        kinds = summary.kinds(self.ledger)
        table = self.ledger.assign(kind_of_claim=kinds, stated=range(len(kinds)))
        by_verdict = table["verdict"].map([*FINDINGS, *verdicts.VERDICTS, ABSENT].index)
        order = np.lexsort([by_verdict, kinds.map(summary.KINDS.index)])
        return [
            {
                "stated": row["stated"],
                "author": titles.get(row["paper"], row["paper"]),
                "dataset": words.data_sets.get(row["dataset"], row["dataset"]),
                "sentence": sentences.sentence(row, words),
                "quantity": words.quantity(row) if row["kind"] == "number" else "",
                "kind": row["kind_of_claim"],
                **summary.shown(row),
                "formally": row["expression"],
                **dict(zip(("short", "rest"), _folded(row["remark"]), strict=True)),
            }
            for row in table.iloc[order].to_dict("records")
        ]


def _folded(remark: str) -> tuple[str, str]:
    """What of a remark is shown at once, and the rest."""
    shown, *others = remark.split("; ")
    while others and len(shown) + len(others[0]) < REMARK:
        shown += f"; {others.pop(0)}"
    return shown, "; ".join(others)


def write(results: Results, templates: str | Path) -> str:
    """The page.

    Parameters
    ----------
    results : Results
    templates : path
        The folder of ``page.html.j2`` and what it includes.

    Raises
    ------
    ValueError
        If a file is not what this version of a run writes.
    """
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rows = results.claims()
    found = Counter((row["author"], row["verdict"]) for row in rows if row["kind"] == "measured")
    kinds = Counter((row["author"], row["kind"]) for row in rows)
    citation = results.project / "CITATION.cff"
    shown = {
        "results": results,
        "rows": rows,
        "found": found,
        "kinds": kinds,
        "table1": sorted(
            (row for row in rows if TABLE1.fullmatch(row["claim"])), key=lambda row: row["stated"]
        ),
        "authors": list(dict.fromkeys(row["author"] for row in rows)),
        "verdicts": [v for v in (*verdicts.VERDICTS, ABSENT) if any(row["verdict"] == v for row in rows)],
        "measured_verdicts": [
            v for v in (*verdicts.VERDICTS, ABSENT) if any(found[a, v] for a, w in found if w == v)
        ],
        "all_kinds": [kind for kind in summary.KINDS if any(row["kind"] == kind for row in rows)],
        "datasets": sorted({row["dataset"] for row in rows}),
        "rule": markup.markdown(summary.RULE, ""),
        "citation": yaml.safe_load(citation.read_text(encoding="utf-8")),
        "citation_file": Download(citation),
        "names": NAMES,
    }
    script = environment.get_template("page.js").render(component=markup.packed(_component()))
    # The only script that the page may run.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    shown |= {"script": Markup(script), "script_hash": f"sha256-{digest}"}
    try:
        return environment.get_template("page.html.j2").render(shown)
    except UndefinedError as error:
        raise ValueError(
            f"a file of {results.folder} lacks what the report shows ({error}): another version wrote it; "
            "`snakemake --cores all` writes it anew"
        ) from error


def _component() -> Path:
    """DataTables with jQuery, as the package itables carries it: one module, no network."""
    found = find_spec("itables")
    if found is None or found.origin is None:
        raise ValueError("the report needs the package itables: pip install -e '.[pipeline]'")
    return Path(found.origin).parent / "html" / "dt_bundle.js"


def fingerprint(folder: str | Path) -> str:
    """Changes when what a report would show of a folder does."""
    digest = hashlib.sha256()
    folder = Path(folder)
    for path in sorted(
        [*folder.glob("*.*"), *(p for d in ("tables", "figures", "data") for p in folder.glob(f"{d}/*"))]
    ):
        if path.is_file() and path.suffix != ".html":
            digest.update(
                f"{path.relative_to(folder)} {path.stat().st_mtime_ns} {path.stat().st_size}\n".encode()
            )
    return digest.hexdigest()[:16]
