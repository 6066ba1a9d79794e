"""
Outliers, unlike any class
==========================

``score_samples`` is log p(x) over all classes. It is low for samples unlike the training data. A discriminative classifier has no such
density, only the probability of its decision.
"""

# %%
# Train on the digits 0 to 8. Nines are the outliers.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from skem import SKEMClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
known = y_train < 9
model = SKEMClassifier(27, reg_covar=0.3, random_state=0).fit(X_train[known], y_train[known])

density = model.score_samples(X_test)
new = y_test == 9
forest = IsolationForest(random_state=0).fit(X_train[known])
svm = SVC().fit(X_train[known], y_train[known])
decision = np.sort(svm.decision_function(X_test), axis=1)
print("area under the ROC curve")
for name, score in [
    ("log p(x)", density),
    ("isolation forest", forest.score_samples(X_test)),
    ("margin of an SVM", decision[:, -1] - decision[:, -2]),
]:
    print(f"{roc_auc_score(new, -score):.3f}  {name}")

# %%
# The distribution of log p(x), and the four least likely test images. A known digit can be unusual, too. Bars are stacked; the first
# has all lower values.

figure = plt.figure(figsize=(5.6, 5), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=[5, 3])
ax = above.subplots()
bins = np.linspace(*np.percentile(density, [0.5, 100]), 40)
ax.hist(
    [density[~new].clip(bins[0]), density[new].clip(bins[0])],
    bins,
    stacked=True,
    label=["digits 0 to 8", "nines (new)"],
)
ax.set(xlabel="log p(x) in nats", ylabel="test samples")
ax.legend()
for ax, i in zip(below.subplots(1, 4), density.argsort(), strict=False):
    ax.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    ax.set(title=f"digit {y_test[i]}", xticks=[], yticks=[])
plt.show()
