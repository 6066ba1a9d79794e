"""Fine-tuning in closed form: extended Baum-Welch, the M-step of training by mutual information.

To the signed sums of all rows are added D times those that the present parameters stand for (Gopalakrishnan et al. 1991;
Normandin 1991): D times the expected phi and counts of a row drawn from them. With the sum in place of those of EM, the
M-step is one of EM. Where D is large it is a short step along the gradient, which raises the criterion; D grows until the
step does, and is less in the pass after one that did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from skem.engine.conditional import ConditionalModel, SignedSums
from skem.engine.fine_tuning import FineTuning, TunedState, complete_data_sums
from skem.engine.free_parameters import ClassWeights
from skem.engine.moments import Moments
from skem.engine.parameters import Mixture

FIRST_GROWTH, GREATER, LESS, LARGEST_GROWTH = 1.0, 2.0, 0.7, 1e6
"""D over beta, of the first pass; what it is multiplied by where a step fails, and after one; and where that ends."""

LEAST_VARIANCE = 0.1
"""What has to be left of a component's variance after a step, in every direction."""


def passes(tuning: FineTuning, mixtures: Sequence[Mixture], n_passes: int) -> Iterator[TunedState]:
    """Yield the state after each pass, from some mixtures. The criterion does not fall from one to the next."""
    present, model = list(mixtures), tuning.model(mixtures)
    indices, total = np.arange(len(tuning.rows.codes)), tuning.rows.total_weight
    pulls, growth = tuning.pulls(model), FIRST_GROWTH

    def evaluated(candidates: Sequence[Mixture]) -> tuple[float, float, list[SignedSums]]:
        """The criterion, the mean of log p(c|x), and the gradient of the criterion in natural parameters."""
        penalty = 0.0
        for block, mixture, pull in zip(model.blocks, candidates, pulls, strict=True):
            parameters = tuning.natural(mixture, block.weights)
            block.use(parameters)
            penalty += sum(float((one * other).sum()) for one, other in zip(pull, parameters, strict=True))
        criterion, log_likelihood, signed = model.criterion(tuning.rows, indices)
        gradient = [
            SignedSums(*(one / total + other for one, other in zip(sums, pull, strict=True)))
            for sums, pull in zip(signed, pulls, strict=True)
        ]
        return criterion / total + penalty, log_likelihood / total, gradient

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        criterion, log_likelihood, gradient = evaluated(present)
    for _ in range(n_passes):
        while True:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                candidates = _candidates(tuning, model, present, gradient, growth)
                if candidates is not None:
                    new = evaluated(candidates)
                    if new[0] > criterion:
                        break
            growth *= GREATER
            if not growth < LARGEST_GROWTH:
                yield TunedState(present, log_likelihood, finished=True, overflown=not np.isfinite(criterion))
                return
        present, (criterion, log_likelihood, gradient) = candidates, new
        growth *= LESS
        yield TunedState(present, log_likelihood)


def _candidates(
    tuning: FineTuning,
    model: ConditionalModel,
    present: Sequence[Mixture],
    gradient: Sequence[SignedSums],
    growth: float,
) -> list[Mixture] | None:
    """The next mixtures with this growth constant; None where one of them is none."""
    shares = growth * tuning.beta * tuning.class_shares
    candidates = []
    for block, mixture, added in zip(model.blocks, present, gradient, strict=True):
        kept = complete_data_sums(mixture, shares, block.weights, tuning.covariance_type)
        sums, counts = added.sums + kept.sums, added.counts + kept.counts
        candidate = _maximised(tuning, mixture, sums, counts, block.weights)
        if candidate is None:
            return None
        candidates.append(candidate)
    return candidates


def _maximised(
    tuning: FineTuning, mixture: Mixture, sums: np.ndarray, counts: np.ndarray, weights: ClassWeights
) -> Mixture | None:
    """The M-step of EM (Pulford 2022, eqs. 16-18) on sums of phi (K, H) and counts (A,); None where they are of no mixture."""
    used = mixture.weights.sum(axis=1) > 0
    n_k, covariance_type = np.where(used, sums[:, -1], 0.0), tuning.covariance_type
    if not (counts > 0).all() or not (n_k[used] > 0).all():
        return None
    phi = sums / np.where(used, n_k, 1.0)[:, None]
    means = np.where(used[:, None], phi[:, covariance_type.linear(mixture.means.shape[1])], mixture.means)
    covariances, *_ = covariance_type.maximise(
        Moments(phi, means, means, n_k), mixture.covariances, ridge=0.0
    )
    # A step that leaves a tenth of a variance at most is too long, whatever it gains on these rows.
    new, old = (
        np.array(covariance_type.dense(each, *means.shape)) for each in (covariances, mixture.covariances)
    )
    try:
        np.linalg.cholesky(new - LEAST_VARIANCE * old)
    except np.linalg.LinAlgError:
        return None
    of_pairs = weights.of(counts)
    return Mixture(of_pairs / of_pairs.sum(axis=0), means, covariances)
