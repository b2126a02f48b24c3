"""Optional packages: one error where they are missing, which says what needs them and how to install them."""

from importlib.util import find_spec


def need(extra: str, what: str, *packages: str) -> None:
    """Check that what the extra of rflib installs, or torch, is there, before ``what`` imports it.

    Raises
    ------
    ImportError
        If one of the packages, under the names that are imported, is missing.
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        remedies = []
        if "torch" in missing:
            remedies.append("No extra has torch: install its build for your driver (docs/devices.md).")
        if set(missing) - {"torch"}:
            remedies.append(f'Run in the checkout: pip install ".[{extra}]"')
        raise ImportError(
            f"{what} needs {', '.join(missing)}, which {'are' if missing[1:] else 'is'} not installed. "
            + " ".join(remedies),
            name=missing[0],
        )
