"""
A support vector machine of edit distances
==========================================

Words are not vectors, but they have distances. A similarity that is made from edit distances is symmetric
and in general not positive definite. The exact learners take such a matrix as ``"precomputed"`` and can
repair it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from rflib.learners import ExactKernelSVC

# %%
# Three words are misspelt at random: each letter is replaced with probability 0.6, and one more letter is
# dropped or added. The task is to tell the word.

rng = np.random.default_rng(0)
LETTERS = list("abcdefghijklmnopqrstuvwxyz")


def misspelt(word):
    """Return the word with random errors."""
    letters = [str(rng.choice(LETTERS)) if rng.random() < 0.6 else letter for letter in word]
    at = int(rng.integers(len(letters)))
    letters[at : at + 1] = [] if rng.random() < 0.5 else [letters[at], str(rng.choice(LETTERS))]
    return "".join(letters)


def edit_distance(a, b):
    """Return the least number of letters to insert, delete or replace."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        last, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (letter != other))
    return row[-1]


classes = ("kernel", "random", "spectra")
labels = np.repeat(np.arange(3), 50)
words = [misspelt(classes[label]) for label in labels]
distances = np.array([[edit_distance(a, b) for b in words] for a in words])
similarity = 1 - distances / distances.max()
print(", ".join(words[::15]))

# %%
# Some eigenvalues of the similarity matrix are negative. ``repair`` says what becomes of them: ``"clip"``
# sets them to zero, ``"flip"`` takes their absolute values (the Krein SVM), ``"shift"`` adds the same
# number to all, and ``"square"`` squares them. Rows that are predicted later are treated consistently.

repairs = ("none", "clip", "flip", "shift", "square")
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = np.array(
    [
        cross_val_score(ExactKernelSVC("precomputed", C=10, repair=repair), similarity, labels, cv=folds)
        for repair in repairs
    ]
)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
eigenvalues = np.sort(np.linalg.eigvalsh(similarity))[::-1]
order = np.arange(1, len(eigenvalues) + 1)
left.axhline(0, color="0.6", linewidth=1)
left.plot(order[eigenvalues >= 0], eigenvalues[eigenvalues >= 0], ".", label="positive")
left.plot(order[eigenvalues < 0], eigenvalues[eigenvalues < 0], "x", label="negative")
left.set(xlabel="rank of the eigenvalue", ylabel="eigenvalue of the similarity matrix")
left.set_yscale("symlog", linthresh=0.1)
left.legend()
right.errorbar(scores.mean(axis=1), repairs, xerr=scores.std(axis=1), fmt="o", capsize=3)
right.invert_yaxis()
right.set(xlabel="accuracy: mean ± standard deviation of 5 folds", ylabel="repair")
plt.show()

# %%
# About a fifth of the eigenvalues are negative. Without a repair the machine finds a stationary point of a
# problem that is not convex. All repairs are a little more accurate here, but the differences between them are
# small compared with the scatter of the folds.
