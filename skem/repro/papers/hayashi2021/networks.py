"""The networks of section 4.2 of Hayashi and Uchida (2021): five convolutions with different last layers. It needs PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from skem.torch import SDGMLayer

N_CLASSES = 10
IN_ONE_GO = 1000
"""Images that are predicted at once."""


@dataclass(frozen=True)
class Setup:
    """How a network is built and trained.

    Attributes
    ----------
    widths : tuple of int
        Channels of the convolutions; all but the last are followed by a pooling that halves the sides.
    n_components : int
        Of each class, in mixtures.
    epochs, batch_size : int
    learning_rate : float
        The largest of its cycle, which rises in the first third of training and falls to nothing.
    l1 : float
        Strength of the L1 penalty on all weights of convolutions and linear layers.
    ramp : float
        Share of training in which the divergence of a sparse layer rises to its full part of the loss.
    """

    widths: tuple[int, ...]
    n_components: int
    epochs: int
    batch_size: int
    learning_rate: float
    l1: float = 0.0
    ramp: float = 1.0


class Softmax(nn.Linear):
    """log P(c|x) of a linear layer with a softmax."""

    def forward(self, x: Tensor) -> Tensor:
        """(n, D) to (n, n_classes)."""
        return F.log_softmax(super().forward(x), dim=1)


class LargeMarginSoftmax(nn.Linear):
    """The same without a constant, trained with a margin of m = 2 between angles (Liu et al. 2016).

    In training the score of the true class, |w||x| cos(t), gives way to |w||x| psi(t), psi = cos(2t) up to a right angle and
    -cos(2t) - 2 beyond: as in their paper by degrees, (lambda cos + psi) / (1 + lambda), where lambda is 1000 over the number
    of the step.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features, bias=False)
        self.register_buffer("step", torch.zeros(()))

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        """(n, D) to (n, n_classes); with the true classes y, (n,), the scores that training uses."""
        scores = super().forward(x)
        if self.training and y is not None:
            rows = torch.arange(len(x))
            norms = self.weight.norm(dim=1)[y] * x.norm(dim=1)
            true = scores[rows, y]
            cosine = (true / norms.clamp_min(1e-12)).clamp(-1.0, 1.0)
            double = 2 * cosine**2 - 1
            psi = torch.where(cosine > 0, double, -double - 2)
            annealed = 1000 / (1 + float(self.step))
            self.step += 1
            scores = scores.index_put((rows, y), (annealed * true + norms * psi) / (1 + annealed))
        return F.log_softmax(scores, dim=1)


LAST: dict[str, Callable[[int, Setup], nn.Module]] = {
    "softmax": lambda d, setup: Softmax(d, N_CLASSES),
    "softmax_l1": lambda d, setup: Softmax(d, N_CLASSES),
    "large_margin_softmax": lambda d, setup: LargeMarginSoftmax(d, N_CLASSES),
    "dgmm": lambda d, setup: SDGMLayer(d, N_CLASSES, setup.n_components, sparse=False),
    "sdgm": lambda d, setup: SDGMLayer(d, N_CLASSES, setup.n_components),
}
"""The last layer, by method."""


class Network(nn.Module):
    """Images (n, 28, 28) of bytes to log P(c|x), (n, n_classes).

    Convolution, pooling, batch norm, ReLU: pooling first makes the same of a quarter of the numbers.
    """

    def __init__(self, method: str, n_features: int, setup: Setup) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 1
        for depth, width in enumerate(setup.widths):
            layers.append(nn.Conv2d(channels, width, 3, padding=1, bias=False))
            if depth < len(setup.widths) - 1:
                layers.append(nn.MaxPool2d(2))
            layers += [nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        self.features = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels, n_features))
        self.last = LAST[method](n_features, setup)

    def embed(self, images: Tensor) -> Tensor:
        """What the last layer sees: (n, n_features)."""
        scaled = images.unsqueeze(1).float().div_(255).sub_(0.5)
        return self.features(scaled.contiguous(memory_format=torch.channels_last))

    def forward(self, images: Tensor, y: Tensor | None = None) -> Tensor:
        """log P(c|x); the true classes y, (n,), matter in the training of a margin."""
        x = self.embed(images)
        return (
            self.last(x, y) if y is not None and isinstance(self.last, LargeMarginSoftmax) else self.last(x)
        )


def train(
    method: str, n_features: int, setup: Setup, images: np.ndarray, y: np.ndarray, seed: int
) -> Network:
    """A network trained by Adam; with one thread (`images.repeatable`) the seed decides every bit of it.

    Parameters
    ----------
    method : str
        Of `LAST`.
    n_features : int
        D, of the last layer.
    setup : Setup
    images : ndarray of uint8, shape (n, 28, 28)
    y : ndarray of int, shape (n,)
    seed : int
    """
    torch.manual_seed(seed)
    X, classes = torch.from_numpy(np.ascontiguousarray(images)), torch.from_numpy(y.astype(np.int64))
    network = Network(method, n_features, setup).to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(network.parameters(), lr=setup.learning_rate)
    n_batches = max(len(X) // setup.batch_size, 1)  # what is left of an epoch's order is left out
    n_steps = setup.epochs * n_batches
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, setup.learning_rate, total_steps=n_steps)
    network.train()
    for step in range(n_steps):
        if step % n_batches == 0:
            order = torch.randperm(len(X))
        start = step % n_batches * setup.batch_size
        batch = order[start : start + setup.batch_size]
        loss = F.nll_loss(network(X[batch], classes[batch]), classes[batch])
        if method == "sdgm":
            beta = min(1.0, step / (setup.ramp * n_steps))
            loss = loss + beta * network.last.kl() / len(X)
        if method == "softmax_l1":
            loss = loss + setup.l1 * _absolute(network)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cycle.step()
    if method == "sdgm":
        network.last.prune()
    return network.eval()


def _absolute(network: nn.Module) -> Tensor:
    """The sum of absolute weights of convolutions and linear layers, without constants and those of batch norm."""
    weighted = [module for module in network.modules() if isinstance(module, nn.Conv2d | nn.Linear)]
    return torch.stack([module.weight.abs().sum() for module in weighted]).sum()


def predict(network: Network, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log P(c|x), (n, n_classes), and what the last layer sees, (n, n_features)."""
    log_proba, features = [], []
    with torch.no_grad():
        for start in range(0, len(images), IN_ONE_GO):
            x = network.embed(torch.from_numpy(np.ascontiguousarray(images[start : start + IN_ONE_GO])))
            features.append(x)
            log_proba.append(network.last(x))
    return torch.cat(log_proba).double().numpy(), torch.cat(features).double().numpy()


def weights(network: Network) -> dict[str, int]:
    """Of the last layer: n_nonzero weights without constants outside phi, how many at first, and components with any."""
    last: Any = network.last
    used = last.n_nonzero_weights if isinstance(last, SDGMLayer) else int((last.weight != 0).sum())
    return {
        "weights": used,
        "initial_weights": last.weight.numel(),
        "n_components": int((last.weight != 0).any(dim=1).sum()),
    }


def setup_of(stated: Mapping[str, Any], **changed: Any) -> Setup:
    """From the part ``network`` of ``config/hayashi2021.yaml``."""
    return Setup(**{**stated, "widths": tuple(stated["widths"]), **changed})
