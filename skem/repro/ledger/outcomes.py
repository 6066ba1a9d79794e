"""Outcomes: the words in which tables, figures and pages report a verdict; the claims table keeps the verdict beside them."""

from __future__ import annotations

from collections.abc import Sequence

from skem.repro.ledger.verdicts import OPEN

AGREES, ONE_INTERPRETATION, DIFFERS = "agrees", "depends", "differs"
UNDECIDED, NOT_RUN = "open", "not run"

OUTCOMES = (AGREES, ONE_INTERPRETATION, DIFFERS, UNDECIDED, NOT_RUN)
"""Outcomes of claims that were to be measured, in the order of tables and figures."""

_WORDS = {
    **dict.fromkeys(("reproduced", "holds"), AGREES),
    **dict.fromkeys(("better", "worse", "higher", "lower", "fails"), DIFFERS),
    **dict.fromkeys(OPEN, UNDECIDED),
    **dict.fromkeys(("not run", "not built"), NOT_RUN),
}


def outcome(verdicts: Sequence[str]) -> str:
    """Return the outcome of a claim from its verdicts under all interpretations, the default first.

    A claim *agrees* if the default interpretation does and no other differs, and *depends* if some agree and
    others do not. Claims that are not comparable, quoted or verified analytically keep their verdict.
    """
    default, *others = (_WORDS.get(verdict, verdict) for verdict in verdicts)
    if default not in (AGREES, DIFFERS, UNDECIDED):
        return default
    if default == AGREES:
        return ONE_INTERPRETATION if DIFFERS in others else AGREES
    return ONE_INTERPRETATION if AGREES in others else default
