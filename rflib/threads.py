"""The environment variables that tell libraries of linear algebra, when loaded, how many threads to use."""


def variables(threads: int) -> dict[str, str]:
    """Return the variables, set to this number of threads."""
    return dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
