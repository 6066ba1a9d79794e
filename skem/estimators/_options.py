"""Rarely needed parameters of the shared-kernel classifiers: the keys of their parameter ``options``, with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SHARED_KERNEL: dict[str, Any] = {
    "sharing": None,
    "block_size": None,
    "init_spread": 2.0,
    "init_scale": 2.0,
    "validation_fraction": 0.1,
    "n_iter_no_change": 5,
}

DISCRIMINATIVE: dict[str, Any] = SHARED_KERNEL | {
    "n_doublings": 0,
    "learning_rate": 0.1,
    "smoothing": 0.0,
    "training_temperature": None,
    "background": None,
}


def nested(params: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Parameters of a classifier from a flat mapping, with the rarely needed ones in ``options``, after those given there."""
    rare = {name: value for name, value in params.items() if name in DISCRIMINATIVE}
    others = {name: value for name, value in params.items() if name not in rare}
    merged = {**(options or {}), **(others.get("options") or {}), **rare}
    return others | ({"options": merged} if merged else {})
