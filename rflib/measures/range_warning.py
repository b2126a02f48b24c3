"""The warning of rows unlike the training rows."""


class RangeWarning(UserWarning):
    """Warning that a map may not represent the kernel at rows: new ones out of range, or most training rows."""
