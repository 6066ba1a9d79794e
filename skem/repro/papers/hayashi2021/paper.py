"""Hayashi and Uchida (2021): evidence, evaluators and figures."""

from skem.repro.papers.hayashi2021 import (  # noqa: F401  (register their evaluators)
    image_evaluators,
    synthetic_evaluators,
)
from skem.repro.papers.hayashi2021.evaluators import EVALUATORS
from skem.repro.papers.hayashi2021.evidence import Evidence
from skem.repro.papers.hayashi2021.figures import FIGURES

evidence = Evidence.read

__all__ = ["EVALUATORS", "FIGURES", "evidence"]
