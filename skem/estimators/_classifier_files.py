"""Files of fitted shared-kernel classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from skem.engine.parameters import Mixture
from skem.estimators._declarations import Array, Each, Record, count, curve, flag, size, word
from skem.estimators._densities import Densities
from skem.estimators._saving import Saving
from skem.estimators._units import UNITS

MIXTURES = Each(
    "n_blocks",
    Record(
        Mixture,
        {
            "weights": Array("n_components, n_classes", least=0),
            "means": Array("n_components, features of block *"),
            "covariances": Array("..."),
        },
    ),
)
"""A mixture for each block. ``_refuse_impossible`` checks the covariances."""


class ClassifierFiles(Saving, Densities):
    """Declarations of a fitted shared-kernel classifier. A subclass with more fitted attributes adds them to ``_saved``."""

    _saved: ClassVar[Mapping[str, Any]] = {
        **Saving._saved,
        "classes_": Array("n_classes", kind="numbers, booleans or words", shortest=2, distinct=True),
        "class_prior_": Array("n_classes", least=0, total=1),
        "n_components_": size("n_components"),
        "groups_": Each(
            "n_classes", Array("components of class *", kind="integers", least=0, most="n_components"), True
        ),
        "n_blocks_": size("n_blocks"),
        "block_indices_": Each(
            "n_blocks", Array("features of block *", kind="integers", least=0, most="n_features")
        ),
        "blocks_": MIXTURES,
        **UNITS,
        "_fitted_with": Record(
            dict,
            dict.fromkeys(("covariance_type", "n_blocks", "arrangement", "block_size", "groups"), word())
            | {"n_components": word(optional=True)},
        ),
        "n_iter_": count("n_iter"),
        "log_likelihood_": curve("n_iter"),
        "objective_": curve("n_iter"),
        "best_iter_": count(),
        "converged_": flag(),
        "dtype_used_": word("float32", "float64"),
        "validation_scores_": Each("n_scores", Array(), optional=True),
        "best_validation_score_": Array(optional=True),
    }
    _records = (Mixture,)

    def _refuse_impossible(self) -> None:
        for name, declaration in self._saved.items():
            if declaration is MIXTURES:
                for r, mixture in enumerate(getattr(self, name)):
                    self._refuse_mixture(mixture, self.block_indices_[r], f"{name}.{r}.{{}}")
