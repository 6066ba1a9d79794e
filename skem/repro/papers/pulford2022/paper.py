"""Pulford (2022): evidence, evaluators and figures."""

from skem.repro.papers.pulford2022 import numbers, orderings, robustness, tradeoffs  # noqa: F401  (they register)
from skem.repro.papers.pulford2022.evaluators import EVALUATORS
from skem.repro.papers.pulford2022.evidence import Evidence
from skem.repro.papers.pulford2022.figures import FIGURES

evidence = Evidence.read

__all__ = ["EVALUATORS", "FIGURES", "evidence"]
