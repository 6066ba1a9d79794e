"""The adapter to ``sklearn.callback``, which is experimental upstream, so kept to one file."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, suppress
from typing import Any

from sklearn.callback import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "follow", "with_callbacks"]


def follow(estimator: Any, passes: Generator[Any, bool | None, None], data: dict[str, Any]) -> None:
    """Run a fit to its end and tell the estimator's callbacks about every pass.

    Parameters
    ----------
    estimator : SharedKernelClassifier
    passes : generator
        Yields after each pass, of one phase after the other; sending it True ends the fit.
    data : dict
        What ``fit`` was given: "X", "y" and "metadata".
    """
    data = {"estimator": estimator, **data}
    fit = estimator._init_callback_context(max_subtasks=estimator._most_passes())
    fit.call_on_fit_task_begin(**data)
    n_phases, stop = estimator._n_phases(), None
    with closing(passes):
        while True:
            one_pass = fit.subcontext(task_name="pass")
            one_pass.call_on_fit_task_begin(**data)
            passes.send(stop)
            # The estimator is complete after every pass and replaces its attributes rather than change them,
            # so a shallow copy of it is the model as if the fit had stopped here.
            stop = one_pass.call_on_fit_task_end(**data, reconstruction_attributes=dict)
            n_phases -= estimator._phase_ends()
            if stop or n_phases == 0:
                break
        with suppress(StopIteration):
            passes.send(stop)
    fit.call_on_fit_task_end(**data, reconstruction_attributes=dict)
