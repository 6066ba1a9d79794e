"""
A learning curve by pass
========================

``fit_passes`` yields the model after every pass of EM, ready to predict. The objective rises all the way; on rows that
were held out the accuracy does not, and the log-loss soon gets worse.
"""

# %%
# The model of each pass is scored as it comes.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from skem import PSKEMClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

model = PSKEMClassifier(40, n_blocks=4, init="sample", max_iter=30, random_state=0)
accuracy, loss = [], []
for fitted in model.fit_passes(X_train, y_train):
    accuracy.append(100 * fitted.score(X_test, y_test))
    loss.append(log_loss(y_test, fitted.predict_proba(X_test)))

# %%
# ``early_stopping=True`` makes the choice of a pass on rows that ``fit`` sets aside.

figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
passes = range(1, model.n_iter_ + 1)
for ax, values, title in zip(
    axes,
    (model.objective_, accuracy, loss),
    ("objective (nats per row)", "test accuracy (%)", "test log-loss (nats)"),
    strict=True,
):
    ax.plot(passes, values, marker=".")
    ax.set(title=title, xlabel="pass of EM")
    ax.grid(alpha=0.3)
plt.show()
