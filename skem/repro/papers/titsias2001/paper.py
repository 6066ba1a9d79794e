"""Titsias and Likas (2001): evidence, evaluators and figures."""

from skem.repro.papers.titsias2001 import orderings, synthetic  # noqa: F401  (they register)
from skem.repro.papers.titsias2001.evaluators import EVALUATORS
from skem.repro.papers.titsias2001.evidence import Evidence
from skem.repro.papers.titsias2001.figures import FIGURES

evidence = Evidence.read

__all__ = ["EVALUATORS", "FIGURES", "evidence"]
