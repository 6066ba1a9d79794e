"""The adapter to ``sklearn.callback``, which is experimental upstream, so kept to one file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import Any

from sklearn.callback import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "follow", "with_callbacks"]


def follow(
    estimator: Any, passes: Generator[Any, bool | None, None], X: Any, y: Any, sample_weight: Any
) -> None:
    """Run an EM fit to its end and tell the estimator's callbacks about every pass.

    Parameters
    ----------
    estimator : estimator with ``max_iter``
    passes : generator
        Yields after each pass; sending it True ends the fit.
    X, y, sample_weight
        What ``fit`` was given.
    """
    told = {"estimator": estimator, "X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
    fit = estimator._init_callback_context(max_subtasks=estimator.max_iter)
    fit.call_on_fit_task_begin(**told)
    stop = None
    while True:
        one_pass = fit.subcontext(task_name="pass")
        one_pass.call_on_fit_task_begin(**told)
        passes.send(stop)
        # The estimator is complete after every pass and replaces its attributes rather than change them,
        # so a shallow copy of it is the model as if the fit had stopped here.
        stop = one_pass.call_on_fit_task_end(**told, reconstruction_attributes=dict)
        if stop or estimator.converged_ or estimator.n_iter_ == estimator.max_iter:
            break
    with suppress(StopIteration):
        passes.send(stop)
    fit.call_on_fit_task_end(**told, reconstruction_attributes=dict)
