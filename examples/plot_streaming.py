"""
Learn from a stream of rows
===========================

``KRRClassifier.partial_fit`` adds a block of rows to the sums that define the solution. Whatever the size
and the order of the blocks, the result is that of one ``fit`` on all rows, and the memory does not grow
with the stream.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from rflib.kernels import Gaussian
from rflib.learners import KRRClassifier
from rflib.maps import ORF

rng = np.random.default_rng(0)


def block(n):
    """Points in a square; the class is the colour of a chess board's field, and 5 % of the labels are wrong."""
    X = rng.uniform(0, 4, size=(n, 2))
    y = (np.floor(X).sum(axis=1) % 2).astype(int)
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


X_test, y_test = block(2000)

# %%
# The feature map is fitted on the first block. It must not depend on the values of the rows, only on the
# number of columns; ``ORF`` with a width that is a number is such a map. All classes must be known at the
# first call.

model = KRRClassifier(feature_map=ORF(Gaussian(sigma=0.5), n_components=200, random_state=0), alphas=1e-4)
linear = SGDClassifier(random_state=0)
seen, accuracy, accuracy_of_linear = [], [], []
blocks = []
for _ in range(12):
    X, y = block(250)
    blocks.append((X, y))
    model.partial_fit(X, y, classes=[0, 1])
    linear.partial_fit(X, y, classes=[0, 1])
    seen.append(250 * len(blocks))
    accuracy.append(model.score(X_test, y_test))
    accuracy_of_linear.append(linear.score(X_test, y_test))

# %%
# The same rows in the reverse order give the same coefficients, up to rounding.

again = KRRClassifier(**model.get_params(deep=False))
for X, y in reversed(blocks):
    again.partial_fit(X, y, classes=[0, 1])
difference = np.abs(model.coef_ - again.coef_).max() / np.abs(model.coef_).max()
print(f"largest relative difference of the coefficients: {difference:.0e}")

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(3, 2))
left.plot(seen, accuracy, "o-", label="KRRClassifier on 200 features")
left.plot(seen, accuracy_of_linear, "s--", label="linear model by stochastic gradients")
left.axhline(0.95, color="0.5", linewidth=1, linestyle=":", label="best possible")
left.set(xlabel="rows seen", ylabel="accuracy on 2,000 other rows", ylim=(0.4, 1))
left.legend(loc="center right")
axis = np.linspace(0, 4, 80)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
right.imshow(
    model.predict(grid).reshape(80, 80),
    origin="lower",
    extent=(0, 4, 0, 4),
    cmap="cividis",
    interpolation="nearest",
)
right.grid(False)
right.set(xlabel="first input", ylabel="second input", title="predicted class after 3,000 rows")
plt.show()
