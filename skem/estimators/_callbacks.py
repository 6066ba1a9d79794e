"""The adapter to ``sklearn.callback``, which is experimental upstream, so kept to one file."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sklearn.callback import CallbackSupportMixin, with_callbacks

from skem.engine.threads import interruptible

__all__ = ["CallbackSupportMixin", "Progress", "follow", "with_callbacks"]


class Progress:
    """A fit as the callbacks of its estimator see it: at most ``max_tasks`` iterations, or fits of other estimators.

    Parameters
    ----------
    estimator : CallbackSupportMixin
    max_tasks : int or None
        None where the number is not known in advance.
    parallel : bool
        Tasks may run side by side; each then has its number.
    X, y, sample_weight
        As ``fit`` received them.
    """

    def __init__(
        self,
        estimator: Any,
        max_tasks: int | None,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        parallel: bool = False,
    ) -> None:
        self._data = {"estimator": estimator, "X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        self._fit = estimator._init_callback_context(max_subtasks=max_tasks, sequential_subtasks=not parallel)
        self.observed = bool(getattr(estimator, "_skl_callbacks", None))
        self._fit.call_on_fit_task_begin(**self._data)

    @contextmanager
    def task(self, name: str = "iteration", number: int | None = None) -> Iterator[Task]:
        """One task, begun and ended."""
        task = Task()
        if not self.observed:
            yield task
            return
        context = self._fit.subcontext(task_name=name, task_id=number)
        context.call_on_fit_task_begin(**self._data)
        yield task
        # An estimator replaces its attributes after each iteration rather than change them, so a shallow copy of it is
        # the model as if the fit had stopped here.
        attributes = dict if name == "iteration" else None
        with interruptible():
            task.stop = context.call_on_fit_task_end(**self._data, reconstruction_attributes=attributes)

    def end(self) -> None:
        self._fit.call_on_fit_task_end(**self._data, reconstruction_attributes=dict)


@dataclass
class Task:
    """``stop`` is True once the task has ended and a callback ends the fit."""

    stop: bool = False


def follow(estimator: Any, passes: Generator[Any, bool | None, None], progress: Progress) -> None:
    """Run a fit of a ``SharedKernelClassifier`` to its end and report each iteration to its callbacks.

    ``passes`` yields after each iteration, of one phase after the other; sending it True ends the fit.
    """
    n_phases, stop = estimator._n_phases(), None
    with closing(passes):
        while True:
            with progress.task() as task:
                passes.send(stop)
            stop = task.stop
            n_phases -= estimator._phase_ends()
            if stop or n_phases == 0:
                break
        with suppress(StopIteration):
            passes.send(stop)
    progress.end()
