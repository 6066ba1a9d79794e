"""Implementations of Sanderson and Curtin (2017): EM from the implementation's own k-means."""

from skem.repro.peers.engines import ENGINES, Request

__all__ = ["ENGINES", "Request"]
