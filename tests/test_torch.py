"""The sparse discriminative mixture as a layer of a network, against references of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

torch = pytest.importorskip("torch")
from skem.torch import DROPPED, SDGMLayer, divergence  # noqa: E402

ROOT = Path(__file__).parents[1]


def layer(covariance="full", sparse=True, seed=0, **sizes):
    torch.manual_seed(seed)
    return SDGMLayer(3, 4, **sizes, covariance=covariance, sparse=sparse).double()


def rows(n=20, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, 3)))


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_it_is_the_class_posterior_of_gaussian_mixtures(covariance):
    # Weights of a Gaussian as eq. 6 has them; an independent density is scipy's.
    rng, model = np.random.default_rng(0), layer(covariance, sparse=False)
    means, priors = rng.normal(size=(8, 3)), rng.dirichlet(np.ones(8))
    factors = rng.normal(size=(8, 3, 5))
    covariances = factors @ factors.transpose(0, 2, 1)
    if covariance == "diag":
        covariances = covariances * np.eye(3)
    weights = []
    for mean, sigma in zip(means, covariances, strict=True):
        precision = np.linalg.inv(sigma)
        constant = -0.5 * (3 * np.log(2 * np.pi) + np.linalg.slogdet(sigma)[1] + mean @ precision @ mean)
        quadratic = -precision + np.diag(np.diag(precision)) / 2
        i, j = np.triu_indices(3) if covariance == "full" else np.diag_indices(3)
        weights.append([constant, *(precision @ mean), *quadratic[i, j]])
    with torch.no_grad():
        model.weight.copy_(torch.tensor(np.array(weights)))
        model.mixture_logits.copy_(torch.from_numpy(np.log(priors)))
    X = rows()
    joint = np.stack(
        [
            np.log(p) + multivariate_normal(m, s).logpdf(X)
            for p, m, s in zip(priors, means, covariances, strict=True)
        ],
        axis=1,
    )
    by_class = logsumexp(joint.reshape(20, 4, 2), axis=2)
    expected = by_class - logsumexp(by_class, axis=1, keepdims=True)
    np.testing.assert_allclose(model(X).detach(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sparse", [True, False])
def test_gradients_agree_with_finite_differences(sparse):
    model, X = layer(sparse=sparse).train(), rows(5).requires_grad_()
    if sparse:  # within the limits of log alpha, and noise that matters
        with torch.no_grad():
            model.log_sigma2.copy_(torch.log(model.weight**2) + torch.randn_like(model.weight))
    parameters = list(model.parameters())

    def loss(*_):
        torch.manual_seed(3)  # the same noise each time
        return model(X)[:, 1].sum() + model.kl()

    assert torch.autograd.gradcheck(loss, (X, *parameters))


def test_noise_of_activations():
    # Local reparametrisation: moments of w'phi under w ~ N(w, alpha w^2), by drawing weights.
    model, x = layer(n_components=1).train(), rows(1)
    with torch.no_grad():
        model.log_sigma2.fill_(-2.0)
        phi = model._terms(x)
        spread = torch.exp(0.5 * model.log_sigma2)
        drawn = model.weight + spread * torch.randn(20000, *model.weight.shape, dtype=torch.double)
        by_weight = torch.log_softmax((drawn * phi).sum(dim=-1), dim=1)
        model.mixture_logits.zero_()
        by_layer = model(x.expand(20000, -1))
    torch.testing.assert_close(by_layer.mean(dim=0), by_weight.mean(dim=0), atol=0.05, rtol=0)
    torch.testing.assert_close(by_layer.std(dim=0), by_weight.std(dim=0), atol=0.05, rtol=0)


def test_the_divergence_is_close_to_the_integral():
    # -KL = log(alpha)/2 - E log|1 + sqrt(alpha) e| + const for e ~ N(0, 1) (Molchanov et al. 2017, eq. 12), zero at infinity.
    def integral(log_alpha):
        grid = np.linspace(-12, 12, 200_001) + 1e-5  # not on the singularity, which can be integrated
        inside = np.log(np.abs(1 + np.exp(0.5 * log_alpha) * grid))
        return np.sum(norm.pdf(grid) * inside) * (grid[1] - grid[0]) - 0.5 * log_alpha

    # E log|e| is what is left as alpha goes to infinity.
    limit = -0.5 * (np.euler_gamma + np.log(2))
    for log_alpha in (-8.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0):
        found = divergence(torch.tensor(log_alpha, dtype=torch.double)).item()
        assert found == pytest.approx(integral(log_alpha) - limit, abs=0.02)


def test_pruning_leaves_the_output_and_stays():
    model, X = layer(), rows()
    with torch.no_grad():
        model.log_sigma2.copy_(torch.log(model.weight**2) + 6 * torch.randn_like(model.weight))
    before, kept = model.eval()(X), model.n_nonzero_weights
    model.prune()
    torch.testing.assert_close(model(X), before)
    assert 0 < kept < model.weight.numel()
    assert model.n_nonzero_weights == kept == int((model.weight != 0).sum())
    # Dropped weights stay dropped, in training, too.
    with torch.no_grad():
        model.log_sigma2.fill_(-10.0)
        model.weight.add_(1.0)
    assert model.n_nonzero_weights == kept
    model.train()(X).sum().backward()
    assert (model.weight.grad[model.pruned] == 0).all()
    assert (model.weight.grad[~model.pruned] != 0).all()


def test_log_alpha_is_clamped():
    model = layer()
    with torch.no_grad():
        model.log_sigma2.fill_(500.0)
    assert model.n_nonzero_weights == 0
    assert torch.isfinite(model.train()(rows())).all()
    ten = torch.tensor(10.0, dtype=torch.double)
    assert model.kl().item() == pytest.approx(model.weight.numel() * divergence(ten).item())
    with torch.no_grad():  # on both sides of the threshold
        model.weight.fill_(1.0)
        model.log_sigma2.fill_(DROPPED)
        model.log_sigma2[:, 0] -= 0.01
        model.log_sigma2[:, 1:] += 0.01
    assert model.n_nonzero_weights == len(model.weight)
    # Without weights it predicts pi.
    with torch.no_grad():
        model.log_sigma2.fill_(500.0)
        model.mixture_logits.copy_(torch.log(torch.arange(1, 9)))
    expected = torch.tensor([3.0, 7.0, 11.0, 15.0], dtype=torch.double) / 36
    torch.testing.assert_close(model.eval()(rows(2)).exp(), expected.expand(2, -1))


def test_training_drops_noise_features_and_learns():
    # Two classes of two Gaussians each, and a feature of noise.
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    centre = np.where(y[:, None] == 0, [[-1.0, -1.0]], [[-1.0, 1.0]]) * rng.choice([-1, 1], size=(400, 1))
    X = np.column_stack([centre + 0.25 * rng.normal(size=(400, 2)), rng.normal(size=400)])
    X, y = torch.from_numpy(X).float(), torch.from_numpy(y)

    def fit():
        torch.manual_seed(0)
        model = SDGMLayer(3, 2)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for step in range(400):
            loss = torch.nn.functional.nll_loss(model(X), y) + min(1, step / 200) * model.kl() / len(X)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return model.eval()

    model = fit()
    assert (model(X).argmax(dim=1) == y).float().mean() > 0.97
    assert model.n_nonzero_weights < model.weight.numel() / 2
    again = fit()
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    # What is stored is all there is.
    model.prune()
    other = SDGMLayer(3, 2)
    other.load_state_dict(model.state_dict())
    torch.testing.assert_close(other.eval()(X), model(X), rtol=0, atol=0)
    assert other.n_nonzero_weights == model.n_nonzero_weights


def test_shapes_and_bad_input():
    model = layer("diag", n_components=3)
    assert model.weight.shape == (12, 7)
    assert layer().weight.shape == (8, 10)  # H = 1 + D (D + 3) / 2
    assert model(rows().reshape(2, 10, 3)).shape == (2, 10, 4)
    torch.testing.assert_close(model(rows()).exp().sum(dim=1), torch.ones(20, dtype=torch.double))
    assert layer(sparse=False).kl().item() == 0
    with pytest.raises(ValueError, match=r"shape \(\.\.\., 3\)"):
        model(torch.zeros(5, 4).double())
    with pytest.raises(ValueError, match="n_classes=0"):
        SDGMLayer(3, 0)
    with pytest.raises(ValueError, match="covariance='tied'"):
        SDGMLayer(3, 2, covariance="tied")


def test_without_torch_one_error_names_the_extra():
    code = "import sys, skem; sys.modules['torch'] = None; import skem.torch"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("ImportError: skem.torch needs PyTorch")
    assert "pskem[torch]" in done.stderr
