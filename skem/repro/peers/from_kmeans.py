"""Implementations of Sanderson and Curtin (2017): EM from the implementation's own k-means."""

from __future__ import annotations

from skem.repro.peers.engines import ENGINES as ALL
from skem.repro.peers.engines import UNCLAMPED, Engine, Fitted, Request

__all__ = ["ENGINES", "Engine", "Fitted", "Request"]

ENGINES: dict[str, Engine] = {
    "armadillo_diag": ALL["Armadillo, diag"],
    "mlpack_full": ALL["mlpack"],
    "mlpack_full_unclamped": UNCLAMPED,
    "skem_diag": ALL["skem, diag"],
    "skem_full": ALL["skem"],
}
