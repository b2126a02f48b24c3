"""The warning of rows unlike the training rows."""


class RangeWarning(UserWarning):
    """Warning that rows are outside the range of the training rows, where a map may not represent the kernel."""
