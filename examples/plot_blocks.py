"""
Feature blocks
==============

PSKEM divides the features into blocks, fits a mixture to each, and multiplies their densities. More blocks cost accuracy or gain some,
depending on the initialisation.
"""

# %%
# The 32 leading principal components of handwritten digits, in one to eight blocks.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from skem import PSKEMClassifier

X, y = load_digits(return_X_y=True)
numbers = [1, 2, 4, 8]


def accuracy(n_blocks, init):
    model = PSKEMClassifier(20, n_blocks=n_blocks, init_params=init, max_iter=10, random_state=0)
    return 100 * cross_val_score(make_pipeline(PCA(32, random_state=0), model), X, y, cv=3).mean()


# %%
# With "class", components are initialised at samples of one class, and no other class uses them. With "sample", they are initialised at
# samples of any class, and all classes share them: one block of many features is then less accurate than several blocks.

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for init, style in (("class", "o-"), ("sample", "s--")):
    ax.plot(numbers, [accuracy(n, init) for n in numbers], style, label=f'init_params="{init}"')
ax.set(xlabel="feature blocks", ylabel="accuracy (%), three folds", xticks=numbers)
ax.legend()
ax.grid(alpha=0.3)
plt.show()
