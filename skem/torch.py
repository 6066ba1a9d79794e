"""The sparse discriminative mixture as the last layer of a network (Hayashi and Uchida 2021, section 4.2). It needs PyTorch."""

from __future__ import annotations

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError(
        "skem.torch needs PyTorch, which cannot be imported: pip install 'pskem[torch]'"
    ) from error

__all__ = ["SDGMLayer"]

LOG_ALPHA = 10.0
"""log alpha stays between minus this and this."""
DROPPED = 3.0
"""Above this log alpha a weight is noise: it is dropped."""
START = -10.0
"""log sigma^2 at first."""
EPS = 1e-8


class SDGMLayer(nn.Module):
    """log P(c|x) of a mixture per class inside one softmax, instead of a linear layer with a softmax.

    P(c, m|x) is proportional to pi_cm exp(w_cm' phi(x)), where phi has a constant, the features and their products (Hayashi
    and Uchida 2021, eqs. 1 and 2). Sparse, each weight has a normal posterior N(w, alpha w^2) under a log-uniform prior, as
    in variational dropout (Molchanov, Ashukha and Vetrov 2017): training minimises

        -mean(log P(c|x)) + beta kl() / n_train

    where beta rises from zero to one in the first epochs; from one at once, weights are dropped before they are trained.

    Parameters
    ----------
    in_features : int
        D.
    n_classes : int
    n_components : int, default=2
        M, of each class.
    covariance : {"full", "diag"}, default="full"
        "diag" leaves the products of different features out.
    sparse : bool, default=True
        False is the discriminative Gaussian mixture: weights have no posterior, and none is dropped.

    Attributes
    ----------
    weight : Parameter of shape (n_classes * n_components, n_terms)
        w, class after class; n_terms is 1 + D (D + 3) / 2, or 1 + 2 D where ``covariance`` is "diag".
    log_sigma2 : Parameter of the same shape, or None
        log(alpha w^2), the logarithm of the posterior's variance.
    mixture_logits : Parameter of shape (n_classes * n_components,)
        log pi, but for a common constant. It has no prior.
    pruned : Tensor of bool of the shape of ``weight``
        Mask of the weights that `prune` has dropped for good.

    Raises
    ------
    ValueError
        If a size is not positive or ``covariance`` none of the two.

    Notes
    -----
    In training, noise is drawn for each w' phi(x) and not for each weight (local reparametrisation), from torch's generator:
    ``torch.manual_seed`` makes it repeatable. In evaluation there is none, and weights with log alpha > 3 count as zero.
    Components that lose all weights remain as constants pi exp(0).

    The paper starts from weights of zero, where components of a class stay alike without its k-means; here they start from
    random ones.

    References
    ----------
    H. Hayashi and S. Uchida, "A discriminative Gaussian mixture model with sparsity", ICLR 2021.

    D. Molchanov, A. Ashukha and D. Vetrov, "Variational dropout sparsifies deep neural networks", ICML 2017.

    Examples
    --------
    >>> import torch
    >>> from skem.torch import SDGMLayer
    >>> layer = SDGMLayer(2, n_classes=3)
    >>> log_proba = layer(torch.zeros(5, 2))
    >>> log_proba.shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        n_components: int = 2,
        covariance: str = "full",
        sparse: bool = True,
    ) -> None:
        super().__init__()
        sizes = {"in_features": in_features, "n_classes": n_classes, "n_components": n_components}
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name}={size}: it has to be at least 1")
        if covariance not in ("full", "diag"):
            raise ValueError(f'covariance={covariance!r}: it has to be "full" or "diag"')
        self.in_features, self.n_classes, self.n_components = in_features, n_classes, n_components
        self.covariance, self.sparse = covariance, sparse
        n_products = in_features * (in_features + 1) // 2 if covariance == "full" else in_features
        shape = (n_classes * n_components, 1 + in_features + n_products)
        self.weight = nn.Parameter(torch.empty(shape))
        self.mixture_logits = nn.Parameter(torch.empty(shape[0]))
        if sparse:
            self.log_sigma2 = nn.Parameter(torch.empty(shape))
        else:
            self.register_parameter("log_sigma2", None)
        self.register_buffer("pruned", torch.zeros(shape, dtype=torch.bool))
        i, j = torch.triu_indices(in_features, in_features)
        self.register_buffer("_pairs", torch.stack([i, j]), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise: weights from N(0, 1 / n_terms), equal pi, next to no noise, nothing pruned."""
        nn.init.normal_(self.weight, std=self.weight.shape[1] ** -0.5)
        nn.init.zeros_(self.mixture_logits)
        if self.log_sigma2 is not None:
            nn.init.constant_(self.log_sigma2, START)
        self.pruned.zero_()

    def extra_repr(self) -> str:
        """The parameters, for ``print``."""
        return (
            f"in_features={self.in_features}, n_classes={self.n_classes}, n_components={self.n_components}, "
            f"covariance={self.covariance!r}, sparse={self.sparse}"
        )

    def log_joint(self, x: Tensor) -> Tensor:
        """log P(c, m|x), eq. 1: (..., D) to (..., n_classes, n_components)."""
        phi = self._terms(x)
        if self.training and self.log_sigma2 is not None:
            weight = self.weight.masked_fill(self.pruned, 0.0)
            variance = torch.exp(self._log_alpha()) * weight * weight
            activations = phi @ weight.T
            spread = torch.sqrt((phi * phi) @ variance.T + EPS)
            activations = activations + spread * torch.randn_like(spread)
        else:
            activations = phi @ self.weight.masked_fill(self._dropped(), 0.0).T
        log_joint = torch.log_softmax(activations + self.mixture_logits, dim=-1)
        return log_joint.unflatten(-1, (self.n_classes, self.n_components))

    def forward(self, x: Tensor) -> Tensor:
        """log P(c|x): (..., D) to (..., n_classes)."""
        return torch.logsumexp(self.log_joint(x), dim=-1)

    def kl(self) -> Tensor:
        """The divergence of the posterior of all weights from their prior, in nats, but for a constant.

        It is that of Molchanov et al. 2017, eq. 14, which is zero as alpha goes to infinity; zero for a layer that is not sparse.
        """
        if self.log_sigma2 is None:
            return self.weight.new_zeros(())
        return divergence(self._log_alpha()[~self.pruned]).sum()

    def prune(self) -> None:
        """Drop for good the weights with log alpha > 3: they are zero from now on, in training, too."""
        with torch.no_grad():
            self.pruned |= self._dropped()
            self.weight.masked_fill_(self.pruned, 0.0)

    @property
    def n_nonzero_weights(self) -> int:
        """Weights that evaluation uses, all components together."""
        return int((~self._dropped() & (self.weight != 0)).sum())

    def _terms(self, x: Tensor) -> Tensor:
        """phi(x), eq. 2: (..., D) to (..., n_terms)."""
        if x.ndim == 0 or x.shape[-1] != self.in_features:
            raise ValueError(f"the layer takes shape (..., {self.in_features}), not {tuple(x.shape)}")
        if self.covariance == "full":
            i, j = self._pairs
            products = x[..., i] * x[..., j]
        else:
            products = x * x
        return torch.cat([torch.ones_like(x[..., :1]), x, products], dim=-1)

    def _log_alpha(self) -> Tensor:
        log_alpha = self.log_sigma2 - torch.log(self.weight * self.weight + EPS)
        return log_alpha.clamp(-LOG_ALPHA, LOG_ALPHA)

    def _dropped(self) -> Tensor:
        if self.log_sigma2 is None:
            return self.pruned
        return self.pruned | (self._log_alpha() > DROPPED)


def divergence(log_alpha: Tensor) -> Tensor:
    """KL(N(w, alpha w^2) || log-uniform) in nats but for a constant, for each weight (Molchanov et al. 2017, eq. 14)."""
    k1, k2, k3 = 0.63576, 1.87320, 1.48695
    return k1 - k1 * torch.sigmoid(k2 + k3 * log_alpha) + 0.5 * nn.functional.softplus(-log_alpha)
