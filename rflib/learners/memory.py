"""The memory of this machine, by which learners decide what they keep."""

import os

# What is taken for it where the system does not say.
_UNKNOWN = 8 * 2**30


def machine_memory() -> int:
    """Return the bytes of memory of this machine; 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _UNKNOWN
