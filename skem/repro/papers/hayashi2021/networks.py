"""The networks of section 4.2 of Hayashi and Uchida (2021): five convolutions and a last layer. They need PyTorch.

The ``setup`` of a network has widths (channels), n_components (per class, of mixtures), epochs, batch_size, learning_rate
(maximum of its cycle), l1 (strength of the L1 penalty) and ramp (share of training in which the divergence of a sparse layer
rises to its full part of the loss).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from skem.torch import SDGMLayer

N_CLASSES = 10
BATCH = 1000
"""Images of a batch in prediction."""


class Softmax(nn.Linear):
    """A linear layer with a softmax: log P(c|x), (n, n_classes)."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute log P(c|x)."""
        return F.log_softmax(super().forward(x), dim=1)


class LargeMarginSoftmax(nn.Linear):
    """A softmax without constants, trained with a margin of m = 2 between angles (Liu et al. 2016).

    In training, the score |w||x| cos(t) of the true class approaches |w||x| psi(t), psi = cos(2t) up to a right angle and
    -cos(2t) - 2 beyond: (lambda cos + psi) / (1 + lambda) with lambda = 1000 / step.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features, bias=False)
        self.register_buffer("step", torch.zeros(()))

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        """Compute log P(c|x); in training from scores with the margin of the true classes y, (n,)."""
        scores = super().forward(x)
        if self.training and y is not None:
            index = torch.arange(len(x))
            norms = self.weight.norm(dim=1)[y] * x.norm(dim=1)
            true = scores[index, y]
            cosine = (true / norms.clamp_min(1e-12)).clamp(-1.0, 1.0)
            double = 2 * cosine**2 - 1
            psi = torch.where(cosine > 0, double, -double - 2)
            annealed = 1000 / (1 + float(self.step))
            self.step += 1
            scores = scores.index_put((index, y), (annealed * true + norms * psi) / (1 + annealed))
        return F.log_softmax(scores, dim=1)


LAST: dict[str, Callable[[int, Mapping[str, Any]], nn.Module]] = {
    "softmax": lambda d, setup: Softmax(d, N_CLASSES),
    "softmax_l1": lambda d, setup: Softmax(d, N_CLASSES),
    "large_margin_softmax": lambda d, setup: LargeMarginSoftmax(d, N_CLASSES),
    "dgmm": lambda d, setup: SDGMLayer(d, N_CLASSES, setup["n_components"], sparse=False),
    "sdgm": lambda d, setup: SDGMLayer(d, N_CLASSES, setup["n_components"]),
}
"""Last layers by method."""


class Network(nn.Module):
    """A network from images of bytes, (n, 28, 28), to log P(c|x), (n, n_classes).

    Pooling precedes batch norm and ReLU: it gives the same from a quarter of the numbers.
    """

    def __init__(self, method: str, n_features: int, setup: Mapping[str, Any]) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = [1, *setup["widths"]]
        for depth, (before, after) in enumerate(pairwise(channels), start=2):
            layers.append(nn.Conv2d(before, after, 3, padding=1, bias=False))
            if depth < len(channels):
                layers.append(nn.MaxPool2d(2))
            layers += [nn.BatchNorm2d(after), nn.ReLU()]
        self.features = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels[-1], n_features))
        self.last = LAST[method](n_features, setup)

    def embed(self, images: Tensor) -> Tensor:
        """Compute the features of the last layer, (n, n_features)."""
        scaled = images.unsqueeze(1).float().div_(255).sub_(0.5)
        return self.features(scaled.contiguous(memory_format=torch.channels_last))

    def forward(self, images: Tensor, y: Tensor) -> Tensor:
        """Compute log P(c|x) in training; only a margin depends on the true classes y, (n,)."""
        x = self.embed(images)
        return self.last(x, y) if isinstance(self.last, LargeMarginSoftmax) else self.last(x)


def train(
    method: str, n_features: int, setup: Mapping[str, Any], data: tuple[np.ndarray, np.ndarray], seed: int
) -> Network:
    """Train a network by Adam on images (n, 28, 28) and classes (n,).

    On one thread (`images.make_repeatable`) the seed determines every bit of it.
    """
    torch.manual_seed(seed)
    X, y = torch.from_numpy(np.ascontiguousarray(data[0])), torch.from_numpy(data[1].astype(np.int64))
    network = Network(method, n_features, setup).to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(network.parameters(), lr=setup["learning_rate"])
    batch_size = setup["batch_size"]
    n_batches = max(len(X) // batch_size, 1)  # an epoch drops its last, smaller batch
    n_steps = setup["epochs"] * n_batches
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, setup["learning_rate"], total_steps=n_steps)
    weighted = [module for module in network.modules() if isinstance(module, nn.Conv2d | nn.Linear)]
    network.train()
    for step in range(n_steps):
        if step % n_batches == 0:
            order = torch.randperm(len(X))
        start = step % n_batches * batch_size
        batch = order[start : start + batch_size]
        loss = F.nll_loss(network(X[batch], y[batch]), y[batch])
        if method == "sdgm":
            loss = loss + min(1.0, step / (setup.get("ramp", 1.0) * n_steps)) * network.last.kl() / len(X)
        if method == "softmax_l1":
            penalty = torch.stack([module.weight.abs().sum() for module in weighted]).sum()
            loss = loss + setup.get("l1", 0.0) * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cycle.step()
    if method == "sdgm":
        network.last.prune()
    return network.eval()


def predict(network: Network, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute log P(c|x), (n, n_classes), and the features of the last layer, (n, n_features)."""
    with torch.no_grad():
        parts = [
            network.embed(batch) for batch in torch.from_numpy(np.ascontiguousarray(images)).split(BATCH)
        ]
        log_proba = torch.cat([network.last(x) for x in parts])
    return log_proba.double().numpy(), torch.cat(parts).double().numpy()


def weights(network: Network) -> dict[str, int]:
    """Count the weights of the last layer: non-zero ones without constants outside phi, initial ones, and components."""
    last: Any = network.last
    used = last.n_nonzero_weights if isinstance(last, SDGMLayer) else int((last.weight != 0).sum())
    return {
        "weights": used,
        "initial_weights": last.weight.numel(),
        "n_components": int((last.weight != 0).any(dim=1).sum()),
    }
