"""Outcomes: six words, in which tables, figures and pages report them; the claims table has more detail beside them."""

from __future__ import annotations

from collections.abc import Sequence

AGREES, ONE_INTERPRETATION, DIFFERS = "agrees", "depends", "differs"
UNDECIDED, UNDECIDABLE, NOT_RUN = "open", "undecidable", "not run"

OUTCOMES = (AGREES, ONE_INTERPRETATION, DIFFERS, UNDECIDED, UNDECIDABLE, NOT_RUN)
"""Outcomes of claims that were to be measured, in the order of tables and figures."""

_WORDS = {
    **dict.fromkeys(("reproduced", "holds"), AGREES),
    **dict.fromkeys(("better", "worse", "higher", "lower", "fails"), DIFFERS),
    **dict.fromkeys(("undecided", "too few runs"), UNDECIDED),
    "not testable": UNDECIDABLE,
    "not run": NOT_RUN,
}


def outcome(details: Sequence[str]) -> str:
    """Return the outcome of a claim from the details under all interpretations, the default first.

    A claim *agrees* or *differs* if it does so under every interpretation, and *depends* if only some agree. All others are
    *undecidable* if more runs of ours would decide under no interpretation, and else *open*. Claims that are not comparable, quoted or
    verified analytically keep this word.
    """
    default, *others = (_WORDS.get(detail, detail) for detail in details)
    if default not in (AGREES, DIFFERS, UNDECIDED, UNDECIDABLE):
        return default
    found = {default, *others}
    if len(found) == 1:
        return default
    if AGREES in found:
        return ONE_INTERPRETATION
    return UNDECIDED if UNDECIDED in found else UNDECIDABLE
