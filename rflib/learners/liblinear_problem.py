"""liblinear on a dense matrix: fills its node array in one assignment, and reads its messages for convergence."""

import ctypes
import re
import sys
import threading
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rflib.extras import need
from rflib.warn import warn

PRIMAL_SOLVERS = (2, 11)

_messages = threading.local()
# liblinear draws from the rand() of the C library, and scikit-learn's copy from a generator of its own: one each
# in a process.
RAND_LOCK = threading.Lock()


@cache
def _library() -> tuple[Any, Any]:
    """Return liblinear's ctypes module and a printer that keeps the messages of the calling thread.

    Imported on first use: it imports numba where that is installed.
    """
    need("svm", "The solver 'liblinear' of LinearSVM and LinearSVR (unlike 'newton')", "liblinear")
    import liblinear.liblinear as module

    return module, module.PRINT_STRING_FUN(lambda text: _messages.lines.append(text.decode()))


def _seed_c_library(seed: int) -> None:
    """Seed rand(), from which the dual solvers draw their order of coordinates."""
    runtime = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
    runtime.srand(ctypes.c_uint(seed))


class LiblinearProblem:
    """A dense matrix and its targets in liblinear's format; built once, solved for several costs.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Any float dtype. liblinear takes 16 bytes an entry, whatever the dtype.
    y : ndarray of shape (n_samples,)
        Targets; for classification labels that are whole numbers.
    fit_intercept : bool
        Append a constant column of ones, whose weight is regularised like any other.
    rows : ndarray of int, optional
        Numbers of the rows in the order in which liblinear sees them, some perhaps repeated; rows are not copied.
    """

    def __init__(self, X: NDArray, y: NDArray, *, fit_intercept: bool, rows: NDArray | None = None):
        lib, _ = _library()
        n, d = X.shape
        nodes = np.empty((n, d + 2), dtype=lib.feature_node)
        nodes["index"][:, :d] = np.arange(1, d + 1)
        nodes["value"][:, :d] = X
        nodes["index"][:, d] = d + 1 if fit_intercept else -1
        nodes["value"][:, d] = 1.0
        nodes["index"][:, d + 1] = -1
        chosen = np.arange(n) if rows is None else rows
        length = len(chosen)
        pointers = (ctypes.POINTER(lib.feature_node) * length)()
        addresses = np.ctypeslib.as_array(ctypes.cast(pointers, ctypes.POINTER(ctypes.c_size_t)), (length,))
        addresses[:] = nodes.ctypes.data + nodes.strides[0] * chosen.astype(np.uintp)
        targets = np.asarray(y, dtype=np.float64)[chosen]

        problem = lib.problem.__new__(lib.problem)
        problem.l, problem.n, problem.x = length, d + fit_intercept, pointers
        problem.y = targets.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        problem.bias = 1.0 if fit_intercept else -1.0
        self._problem, self._keep_alive = problem, (nodes, pointers, targets)

    def solve(
        self,
        solver: int,
        *,
        C: float,
        tol: float,
        epsilon: float = 0.1,
        seed: int = 0,
        start: NDArray[np.float64] | None = None,
        verbose: bool = False,
    ) -> tuple[NDArray[np.float64], int]:
        """Minimise liblinear's objective number ``solver`` (its option -s).

        Return the weights, (n_features [+ 1 for the bias], n_vectors), of several classes in the order of their
        labels, and the iterations done.

        Parameters
        ----------
        solver : int
            2, 1, 3: squared hinge in the primal and in the dual, hinge in the dual; 11, 12, 13: the squared
            epsilon-insensitive loss in the primal and in the dual, the plain one in the dual.
        C : float
            Cost of the losses; the objective is ||w||^2 / 2 + C sum of losses.
        tol : float
            liblinear's -e; its meaning depends on the solver.
        epsilon : float
            Width of the insensitive tube (-p).
        seed : int
            Seed of the dual solvers, which run one at a time because they share the C library's rand().
        start : ndarray, optional
            Weights to start from, as they are returned; primal solvers only.
        verbose : bool
            Print what liblinear says.

        Warns
        -----
        ConvergenceWarning
            If liblinear stopped at its limit of iterations.
        """
        lib, printer = _library()
        parameter = lib.parameter.__new__(lib.parameter)
        parameter.set_to_default_values()
        parameter.solver_type, parameter.C, parameter.eps, parameter.p = solver, C, tol, epsilon
        if start is not None:
            initial = np.ascontiguousarray(start, dtype=np.float64)
            parameter.init_sol = initial.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        if error := lib.liblinear.check_parameter(self._problem, parameter):
            raise ValueError(f"liblinear: {error.decode()}")
        _messages.lines = []
        lib.liblinear.set_print_string_function(printer)
        if solver in PRIMAL_SOLVERS:
            trained = lib.liblinear.train(self._problem, parameter)
        else:
            with RAND_LOCK:
                _seed_c_library(seed)
                trained = lib.liblinear.train(self._problem, parameter)
        model = lib.toPyModel(trained)
        n_vectors = 1 if solver > 10 or model.nr_class == 2 else model.nr_class
        weights = np.ctypeslib.as_array(model.w, (self._problem.n, n_vectors)).copy()
        if n_vectors > 1:
            weights = weights[:, np.argsort(model.get_labels())]
        said = "".join(_messages.lines)
        if verbose:
            print(said, end="")
        n_iter, reached_limit = _read_messages(said)
        if reached_limit:
            warn(
                "liblinear stopped at its own limit of iterations, perhaps far from the minimum. To go on, set "
                "max_iter (for example to 20000), raise tol, lower C, or solve the squared loss in the primal.",
                ConvergenceWarning,
                cause="liblinear",
            )
        return weights, n_iter


def _read_messages(text: str) -> tuple[int, bool]:
    """Return the iterations of the longest run, and whether a run was cut short and not taken up in the primal."""
    counts = [int(a or b) for a, b in re.findall(r"^iter +(\d+)|#iter = (\d+)", text, re.MULTILINE)]
    cut_short = re.search(r"reaching max number of (?:Newton )?iterations\n(?!Switching)", text)
    return max([1, *counts]), cut_short is not None
