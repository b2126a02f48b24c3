"""Data sets: where they come from, how they are verified, parsed, prepared and split."""
