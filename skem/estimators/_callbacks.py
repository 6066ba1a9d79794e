"""The adapter to ``sklearn.callback``, which is experimental: no fit without callbacks needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

import sklearn

from skem.engine.threads import interruptible, single_threaded

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        def set_callbacks(self, *callbacks: object) -> NoReturn:
            """Raise NotImplementedError: this release of scikit-learn has other callbacks than version 1.9, where they are experimental."""
            raise NotImplementedError(
                f"{type(self).__name__}.set_callbacks: scikit-learn {sklearn.__version__} has no callbacks that skem can "
                "use: install scikit-learn 1.9"
            )

    def with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "Progress", "fitting", "with_callbacks"]


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """Restore the attributes of an estimator if its fit fails or is interrupted, but not if a loop over its iterations ends."""
    before = estimator.__dict__.copy()
    try:
        yield
    except GeneratorExit:
        raise
    except BaseException:
        estimator.__dict__ = before  # In one step, which nothing can interrupt.
        raise


@contextmanager
def fitting(estimator: Any, *arguments: Any, parallel: bool = False, **options: Any) -> Iterator[Progress]:
    """The context of every ``fit``: BLAS with one thread, callbacks, and the estimator as it was if the fit fails.

    Parameters are those of `Progress`. With ``parallel``, for fits of other estimators, BLAS is left to these.
    """
    progress = Progress(estimator, *arguments, parallel=parallel, **options)
    with all_or_nothing(estimator), nullcontext() if parallel else single_threaded():
        yield progress
        progress.end()


@contextmanager
def _users_code() -> Iterator[None]:
    """Mark the errors of callbacks, which end a search: they say nothing about a candidate."""
    try:
        yield
    except ValueError as error:
        vars(error)["of_callback"] = True
        raise


class Progress:
    """A fit as the callbacks of its estimator see it: at most ``max_tasks`` iterations, or fits of other estimators.

    The number is None if it is not known in advance. ``parallel`` tasks may run side by side; each then has its number. ``stop`` is True
    if a callback ends the fit after the last task.
    """

    stop = False

    def __init__(
        self,
        estimator: Any = None,
        max_tasks: int | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        parallel: bool = False,
    ) -> None:
        self._data = {"estimator": estimator, "X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        self.observed = bool(getattr(estimator, "_skl_callbacks", None))
        if not self.observed:
            return
        with _users_code():
            self._fit = estimator._init_callback_context(
                max_subtasks=max_tasks, sequential_subtasks=not parallel
            )
            self._fit.call_on_fit_task_begin(**self._data)

    @contextmanager
    def task(self, name: str = "iteration", number: int | None = None) -> Iterator[None]:
        """One task, begun and ended."""
        if not self.observed:
            yield
            return
        context = self._fit.subcontext(task_name=name, task_id=number)
        with _users_code():
            context.call_on_fit_task_begin(**self._data)
        yield
        # An estimator replaces its attributes after each iteration rather than change them, so a shallow copy of it is
        # the model as if the fit had stopped here.
        attributes = dict if name == "iteration" else None
        with interruptible(), _users_code():
            self.stop = context.call_on_fit_task_end(**self._data, reconstruction_attributes=attributes)

    def end(self) -> None:
        if not self.observed:
            return
        with _users_code():
            self._fit.call_on_fit_task_end(**self._data, reconstruction_attributes=dict)
