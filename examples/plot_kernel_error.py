"""
Kernel error against the number of columns
==========================================

How many columns does a map need? This example approximates the Gaussian kernel on the breast-cancer data
with six maps and measures the relative error of the kernel matrix on rows that the maps have not seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Gaussian
from rflib.maps import MVORF, ORF, QMC, RFF, Nystroem, OptimizedMaclaurin
from rflib.metrics import relative_frobenius_error

X = StandardScaler().fit_transform(load_breast_cancer().data)
train, test = X[:400], X[400:]
kernel = Gaussian("median").for_rows(train)
K = kernel(test)

# %%
# Every map takes the kernel, the number of columns D and a seed. ``kernel_matrix`` returns the
# approximation of the kernel matrix that the features imply. Each point of the picture is the mean over
# three seeds.

columns = [32, 64, 128, 256]
fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for marker, method in zip("osv^Dx", (RFF, QMC, ORF, OptimizedMaclaurin, MVORF, Nystroem), strict=True):
    errors = [
        np.mean(
            [
                relative_frobenius_error(
                    K, method(kernel, D, random_state=seed).fit(train).kernel_matrix(test)
                )
                for seed in range(3)
            ]
        )
        for D in columns
    ]
    ax.loglog(columns, errors, marker=marker, label=method.__name__)
ax.set(xlabel="columns D", ylabel="relative error of the kernel matrix (Frobenius norm)")
ax.set_xticks(columns, columns)
ax.minorticks_off()
ax.legend(ncols=2)
plt.show()

# %%
# The error of independent frequencies (``RFF``) falls like one over the square root of D: it takes four
# times as many columns to halve it. Orthogonal frequencies (``ORF``) have a lower error from the start. The
# low-discrepancy sequence of ``QMC`` does not pay here, in 30 dimensions and with few columns. ``MVORF``
# and ``OptimizedMaclaurin`` compute the leading part of the kernel exactly and sample only the rest.
#
# ``Nystroem`` does not draw frequencies. Its columns are the kernel itself at D training rows, so it has
# the least error wherever the kernel matrix is close to one of low rank, as it is here. Its price is a
# transform that evaluates the kernel at D rows, and a fit that stores these rows: see
# :ref:`sphx_glr_gallery_plot_time.py`.
