"""
Sparse rows: a polynomial kernel of word counts
===============================================

Word counts are rows with thousands of columns, nearly all of them zero. Maps take such rows in scipy's
sparse formats and never make them dense. Here the label depends on *pairs* of words, which a linear model
of the counts cannot see and a polynomial kernel of degree 2 can.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import normalize

from rflib.kernels import Polynomial
from rflib.learners import KRRClassifier
from rflib.maps import TensorSketch

# %%
# The rows are generated: 2,000 short texts over 5,000 words. Four words are frequent. A text belongs to
# class 1 if exactly one of the words "not" and "good", or exactly one of "very" and "bad", occurs in it
# more than the other way round; so each word by itself says nothing.

rng = np.random.default_rng(0)
n, n_words = 2000, 5000
words = rng.zipf(1.3, size=(n, 12)) % n_words
counts = csr_array(
    (np.ones(words.size), (np.repeat(np.arange(n), 12), words.ravel())), shape=(n, n_words)
).tolil()
switches = rng.integers(0, 2, size=(n, 2))
counts[:, n_words - 2 :] = 2 * switches
X = normalize(counts.tocsr())
y = switches[:, 0] ^ switches[:, 1]
print(
    f"{X.shape[0]} rows, {X.shape[1]} columns, {100 * X.nnz / np.prod(X.shape):.2f} % of the entries are not zero"
)

# %%
train, test = slice(0, 1500), slice(1500, None)
kernel = Polynomial(degree=2, coef0=0.5)
columns = [64, 128, 256, 512, 1024]
accuracies = [
    KRRClassifier(feature_map=TensorSketch(kernel, n_components=D, random_state=0), alphas=1e-4)
    .fit(X[train], y[train])
    .score(X[test], y[test])
    for D in columns
]
linear = RidgeClassifier().fit(X[train], y[train]).score(X[test], y[test])

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.semilogx(columns, accuracies, "o-", label="TensorSketch of a polynomial kernel of degree 2")
ax.axhline(linear, linestyle="--", color="C1", label="linear model of all 5,000 columns")
ax.set(xlabel="columns D", ylabel="accuracy", ylim=(0.4, 1.02))
ax.set_xticks(columns, columns)
ax.minorticks_off()
ax.legend(loc="center right")
plt.show()

# %%
# The linear model guesses. The sketch of the polynomial kernel finds the pair in far fewer columns than the
# 12.5 million products of two words: its error is noise that all pairs share, and falls as the number of
# columns grows.
