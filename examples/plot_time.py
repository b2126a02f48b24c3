"""
Time against Nystroem
=====================

At the same number of columns ``Nystroem`` has a low error. Its transform evaluates
the kernel at D landmark rows and then multiplies by a D x D matrix, which takes of the order of D²
operations for each row. Fourier features take d D operations for rows of d columns. This example compares
errors at equal *time*.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from rflib.kernels import Gaussian
from rflib.maps import MVORF, ORF, RFF, Nystroem
from rflib.metrics import relative_frobenius_error

X, _ = make_blobs(7_000, n_features=16, centers=40, cluster_std=3.0, random_state=0)
X = (X / X.std()).astype(np.float32)
train, test, compared = X[:2000], X[2000:], X[2000:2800]
kernel = Gaussian(sigma=5.0)
K = kernel(compared)

# %%
# The time is the shortest of five transforms of 5,000 rows in single precision.


def error_and_time(method, D):
    """Return the relative error of the kernel matrix and the seconds of a transform."""
    features = method(kernel, D, random_state=0).fit(train)
    seconds = []
    for _ in range(5):
        start = perf_counter()
        features.transform(test)
        seconds.append(perf_counter() - start)
    return relative_frobenius_error(K, features.kernel_matrix(compared)), min(seconds)


fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for method, marker in zip((RFF, ORF, MVORF, Nystroem), "ovDx", strict=True):
    results = np.array([error_and_time(method, D) for D in (64, 128, 256, 512, 1024)])
    ax.loglog(1000 * results[:, 1], results[:, 0], marker=marker, label=method.__name__)
ax.set(xlabel="time of the transform of 5,000 rows (ms)", ylabel="relative error of the kernel matrix")
ax.legend()
plt.show()

# %%
# The points of one line have 64, 128, 256, 512 and 1,024 columns. Read the picture along a vertical line,
# at equal time. Times depend on the machine; ``make bench`` measures them with more care
# (:doc:`/performance`).
