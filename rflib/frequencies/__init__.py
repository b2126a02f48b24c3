"""Frequencies: directions, norms and weights."""
