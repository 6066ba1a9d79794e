"""
Accuracy by iteration
=====================

``fit_iterations`` yields the model after every EM iteration, ready to predict. The objective increases throughout. On held-out samples
the accuracy does not, and the log-loss soon increases.
"""

# %%
# Score the model after each iteration.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from skem import PSKEMClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

model = PSKEMClassifier(40, n_blocks=4, init_params="sample", max_iter=30, random_state=0)
accuracy, loss = [], []
for fitted in model.fit_iterations(X_train, y_train):
    accuracy.append(100 * fitted.score(X_test, y_test))
    loss.append(log_loss(y_test, fitted.predict_proba(X_test)))

# %%
# ``early_stopping=True`` selects the iteration by the accuracy on samples that ``fit`` holds out.

figure, axes = plt.subplots(3, 1, figsize=(5.6, 6), sharex=True, layout="constrained")
iterations = range(1, model.n_iter_ + 1)
for ax, values, title in zip(
    axes,
    (model.objective_, accuracy, loss),
    ("objective (nats per sample)", "test accuracy (%)", "test log-loss (nats)"),
    strict=True,
):
    ax.plot(iterations, values, marker=".")
    ax.set_title(title)
    ax.grid(alpha=0.3)
ax.set_xlabel("EM iteration")
plt.show()
