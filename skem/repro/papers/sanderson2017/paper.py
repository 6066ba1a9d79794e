"""Sanderson and Curtin (2017): evidence, evaluators and figures."""

from skem.repro.papers.sanderson2017 import speed  # noqa: F401  (registers its evaluators)
from skem.repro.papers.sanderson2017.evaluators import EVALUATORS
from skem.repro.papers.sanderson2017.evidence import Evidence
from skem.repro.papers.sanderson2017.figures import FIGURES

evidence = Evidence.read

__all__ = ["EVALUATORS", "FIGURES", "evidence"]
