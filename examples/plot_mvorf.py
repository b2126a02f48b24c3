"""
Eigenfunctions, and waves for the rest
======================================

``MVORF`` divides its columns between eigenfunctions of the kernel and random waves. This example draws the error
to expect of each division, its price, for three widths of a Gaussian kernel on images of digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from rflib import MVORF, Gaussian, MercerFeatures
from rflib.metrics import relative_frobenius_error

X, _ = load_digits(return_X_y=True)
rows, new = X[:1200], X[1200:]
median = Gaussian("median").for_rows(rows).sigma
D = 256

# %%
# The first n eigenfunctions leave out r(x, y) of the kernel: their squared error is its mean square, the bias.
# Waves in the other D - n columns have r as their mean, and a variance of about (mean of r(x, x))² / (D - n). With
# the best factor for the waves, the squared error of both is bias times variance over bias plus variance.


def price(Z, K, n):
    """Return the relative error to expect of n eigenfunctions and D - n waves."""
    r = K - Z[:, :n] @ Z[:, :n].T
    bias, variance = np.mean(r**2), np.mean(r.diagonal()) ** 2 / max(D - n, 1e-9)
    return np.sqrt(bias * variance / (bias + variance) / np.mean(K**2))


fig, (top, bottom) = plt.subplots(
    2, sharex=True, figsize=(6.4, 5.2), height_ratios=(3, 1), layout="constrained"
)
numbers = np.arange(1, D + 1, 5)
for marker, style, part in zip("osD", ("-", "--", "-."), (2, 4, 6), strict=True):
    kernel, name = Gaussian(median / part), f"median / {part}"
    Z = MercerFeatures(kernel, D, random_state=0).fit(rows).transform(new)
    alone = price(Z, kernel(new), D)
    prices = [price(Z, kernel(new), n) / alone for n in numbers]
    (line,) = top.plot(numbers, prices, linestyle=style, label=f"width {name}")
    features = MVORF(kernel, D, random_state=0).fit(rows)
    n, error = D - features.n_waves_, relative_frobenius_error(kernel(new), features.kernel_matrix(new))
    colour = line.get_color()
    top.plot(n, error / alone, marker, color=colour, markersize=9, markeredgecolor="black", clip_on=False)
    bottom.barh(name, n, color=colour)
    bottom.barh(name, D - n, left=n, color="none", edgecolor=colour, hatch="///")
top.set(ylim=(0.83, 1.4), ylabel="error / that of eigenfunctions alone")
top.legend()
bottom.invert_yaxis()
bottom.set(xlim=(0, D), xlabel=f"of {D} columns: eigenfunctions (filled), and waves (hatched)")
plt.show()

# %%
# The lines are the prices, and the markers the measured errors of the divisions that ``MVORF`` chose. The
# narrower the kernel, the less of it do eigenfunctions hold, and the more waves pay. Prices are too low, because
# the projection of the waves on the eigenfunctions is fitted to 1,200 rows only. So the map draws all divisions
# that are nearly the cheapest, measures them on rows that it holds out, and keeps waves only where these confirm
# a gain: for the widest of the three kernels they do not, and all columns are eigenfunctions.
