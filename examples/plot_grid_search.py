"""
Blocks and components by grid search
====================================

The classifiers are scikit-learn estimators, for ``Pipeline`` and ``GridSearchCV``. Log-loss is the better score for the selection, as it
also penalises overconfident models.
"""

# %%
# Principal components first, then the search over the number of blocks and of components.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from skem import PSKEMClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

blocks, components = [1, 2, 3], [10, 20, 40]
model = make_pipeline(PCA(30, random_state=0), PSKEMClassifier(max_iter=15, random_state=0))
grid = {"pskemclassifier__n_blocks": blocks, "pskemclassifier__n_components": components}
search = GridSearchCV(model, grid, scoring="neg_log_loss", cv=3).fit(X_train, y_train)
print(search.best_params_, f"test accuracy {search.best_estimator_.score(X_test, y_test):.3f}")

# %%
# Log-loss of every point of the grid; darker is better.

losses = -search.cv_results_["mean_test_score"].reshape(len(blocks), len(components))
figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
ax.imshow(losses, cmap="Blues_r", vmax=1.5 * losses.max(), aspect="auto")
for (row, column), loss in np.ndenumerate(losses):
    ax.text(column, row, f"{loss:.3f}", ha="center", va="center", color="white")
ax.set_xticks(range(len(components)), components)
ax.set_yticks(range(len(blocks)), blocks)
ax.set(xlabel="components per block", ylabel="feature blocks", title="log-loss over three folds (nats)")
plt.show()
