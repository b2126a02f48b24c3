"""
Tune the width of a kernel
==========================

A kernel has ``get_params`` and ``set_params``, so scikit-learn's search can change the width of a kernel
inside a map inside a pipeline. The name of the parameter is the path to it: ``orf__kernel__sigma``.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from rflib.kernels import Gaussian, WidthWarning
from rflib.learners import KRRClassifier
from rflib.maps import ORF

X, y = load_digits(return_X_y=True)
X = X / 16  # pixels from 0 to 1

# %%
# The grid holds numbers. ``"scale"`` and ``"median"`` are rules that find a width from the training rows,
# and they may stand in the same grid.

# The search also tries widths at which the kernel is nearly the identity.
warnings.simplefilter("ignore", WidthWarning)
model = make_pipeline(ORF(Gaussian(), n_components=256, random_state=0), KRRClassifier(alphas=1e-4))
widths = np.geomspace(0.3, 30, 9)
search = GridSearchCV(model, {"orf__kernel__sigma": [*widths, "scale", "median"]}, cv=3).fit(X, y)
found = search.cv_results_
print("best:", search.best_params_, f"accuracy {search.best_score_:.3f}")

# %%
# ``kernel_`` of a fitted map shows the number that a rule has found.

rules = {
    rule: ORF(Gaussian(rule), n_components=256, random_state=0).fit(X).kernel_.sigma
    for rule in ("scale", "median")
}

fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
mean, std = found["mean_test_score"], found["std_test_score"]
ax.errorbar(
    widths, mean[:9], std[:9], marker="o", capsize=3, label="grid: mean ± standard deviation of 3 folds"
)
for marker, (rule, sigma), score in zip("s^", rules.items(), mean[9:], strict=True):
    ax.plot(sigma, score, marker, markersize=10, label=f'"{rule}": width {sigma:.2f}')
ax.set(xscale="log", xlabel="width sigma of the Gaussian kernel (units of the pixels)", ylabel="accuracy")
ax.legend(loc="lower center")
plt.show()

# %%
# If the width is too small, all rows look different from each other; if it is too large, the kernel is
# nearly linear. Both rules land on the plateau, which makes them good starting points where a search would
# take too long.
