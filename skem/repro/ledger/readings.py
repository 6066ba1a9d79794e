"""What a paper leaves open: every way to read it, what is measured under each, and which of them turn a verdict.

A *reading* of a paper chooses an option of each of its open questions. The questions stand in the paper's YAML under
``readings``, each with the option nearest the text and the claims it touches. An option is measured by what was trained
for it *instead* of something else, or by the paper's judges, which ask for it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import combinations, product
from typing import Any

from skem.repro.config.documents import refuse
from skem.repro.ledger.estimates import Claim, NotRun
from skem.repro.ledger.verdicts import Judgement

OPEN = ("undecided", "too few runs", "not testable")
"""Verdicts that contradict no other."""


NOTHING = "nothing"
"""What is looked up instead of something that is not trained under an option."""


@dataclass(frozen=True)
class Question:
    """Something that a paper leaves open.

    Attributes
    ----------
    name : str
    about : str
        As it follows "depends on".
    default : str
        The option nearest the text.
    claims : tuple of str
        Patterns of the ids that it touches.
    options : mapping of str to str
        What each is called.
    instead : mapping of str to mapping of str to str
        By option: from patterns of "data set/method" to what is looked up instead: a "data set/method", a data set, or `NOTHING`.
    """

    name: str
    about: str
    default: str
    claims: tuple[str, ...]
    options: Mapping[str, str]
    instead: Mapping[str, Mapping[str, str]]

    def touches(self, id: str) -> bool:
        """Whether a claim depends on it."""
        return any(fnmatchcase(id, pattern) for pattern in self.claims)


@dataclass(frozen=True)
class Reading:
    """An option of each question; of those it does not name, the default.

    Attributes
    ----------
    options : mapping of str to str
    instead : tuple of mapping of str to str
    """

    options: Mapping[str, str] = field(default_factory=dict)
    instead: tuple[Mapping[str, str], ...] = ()

    def option(self, question: str, default: str) -> str:
        """Which option of a question it takes."""
        return self.options.get(question, default)

    def where(self, dataset: str, method: str) -> tuple[str, str]:
        """Data set and method that are looked up for these; `NotRun` where nothing is."""
        for mapping in self.instead:
            for pattern, target in mapping.items():
                if fnmatchcase(f"{dataset}/{method}", pattern):
                    if target == NOTHING:
                        raise NotRun(f"{method} on {dataset} is not trained under this reading")
                    dataset, _, other = target.partition("/")
                    method = other or method
                    break
        return dataset, method


@dataclass(frozen=True)
class Found:
    """A verdict under a reading."""

    options: Mapping[str, str]
    label: str
    judgement: Judgement


@dataclass(frozen=True)
class Survey:
    """What was found of a claim under every reading that touches it and was measured; first the default one, if it was."""

    found: tuple[Found, ...]
    depends_on: tuple[Question, ...]

    @property
    def agree(self) -> int:
        """Readings with the verdict of the default one."""
        return sum(f.judgement.verdict == self.found[0].judgement.verdict for f in self.found)

    @property
    def words(self) -> str:
        """What the verdict depends on, as it follows it."""
        return " and on ".join(question.about for question in self.depends_on)


def survey(claim: Claim, questions: Sequence[Question], judge: Callable[[Reading], Judgement]) -> Survey:
    """The verdicts on a claim under every reading that was measured.

    Raises
    ------
    NotRun
        If none was.
    """
    touching = [question for question in questions if question.touches(claim["id"])]
    found: list[Found] = []
    missing = None
    for choice in product(*(sorted(q.options, key=lambda o, q=q: o != q.default) for q in touching)):  # type: ignore[misc]
        options = {q.name: option for q, option in zip(touching, choice, strict=True)}
        instead = tuple(q.instead[o] for q, o in zip(touching, choice, strict=True) if o in q.instead)
        label = ", ".join(q.options[o] for q, o in zip(touching, choice, strict=True))
        try:
            judgement = judge(Reading(options, instead))
        except NotRun as error:
            missing = missing or error
            continue
        if any(_same(judgement, other.judgement) for other in found):
            continue  # It changes what others are measured by, and not this.
        if missing and not found:
            told = f"judged by {label}; by the reading nearest the text it was not part of this run"
            judgement = replace(judgement, note="; ".join(filter(None, [told, judgement.note])))
        found.append(Found(options, label, judgement))
    if missing and not found:
        raise missing
    return Survey(tuple(found), tuple(q for q in touching if q.name in set(_turning(found))))


def _same(a: Judgement, b: Judgement) -> bool:
    """Whether two judgements have the same numbers, and so are one measurement."""
    return (a.verdict, a.measured, a.low, a.high) == (b.verdict, b.measured, b.low, b.high) and a.low == a.low


def _turning(found: Sequence[Found]) -> Iterator[str]:
    """Questions whose options alone make the difference between two verdicts; where none does alone, the fewest together."""
    decided = [f for f in found if f.judgement.verdict not in OPEN]
    apart = [
        [name for name in a.options if a.options[name] != b.options[name]]
        for a, b in combinations(decided, 2)
        if a.judgement.verdict != b.judgement.verdict
    ]
    fewest = min(map(len, apart), default=0)
    for names in apart:
        if len(names) == fewest:
            yield from names


def read(
    paper: str,
    document: Mapping[str, Any],
    ids: Collection[str],
    trained: Collection[str],
    judged: Mapping[str, Collection[str]],
    config: str = "config",
) -> list[Question]:
    """The open questions of a paper.

    Parameters
    ----------
    paper : str
    document : mapping
        The content of its YAML.
    ids : collection of str
        Of all claims.
    trained : collection of str
        Every "data set/method" that some experiment trains.
    judged : mapping of str to collection of str
        By question, the options that the paper's judges know by name.

    Raises
    ------
    ConfigurationError
        With all faults: a default that is no option, claims that do not exist, options of which nothing is known.
    """
    faults, questions = [], []
    for name, entry in document.get("readings", {}).items():
        where, options = f"{config}/{paper}.yaml: readings.{name}", entry["options"]
        if entry["default"] not in options:
            faults.append(f"{where}: default is {entry['default']!r}; its options are {', '.join(options)}")
        faults += [
            f"{where}.claims names {pattern!r}, which is no claim"
            for pattern in entry["claims"]
            if not any(fnmatchcase(id, pattern) for id in ids)
        ]
        for option, details in options.items():
            known = judged.get(name, ())
            if "instead" not in details and option != entry["default"] and option not in known:
                allowed = ", ".join(known) or "none"
                faults.append(
                    f"{where}.options.{option}: nothing is trained instead, and no judge knows it; known: {allowed}"
                )
            for pattern, target in details.get("instead", {}).items():
                faults += [
                    f"{where}.options.{option}.instead: {told!r} is in no experiment"
                    for told in (pattern, target if "/" in target else f"{target}/*")
                    if target != NOTHING or told == pattern
                    if not any(fnmatchcase(one, told) for one in trained)
                ]
        questions.append(
            Question(
                name,
                entry["about"],
                entry["default"],
                tuple(entry["claims"]),
                {option: details["label"] for option, details in options.items()},
                {o: details["instead"] for o, details in options.items() if "instead" in details},
            )
        )
    refuse(faults)
    return questions
