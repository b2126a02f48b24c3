"""The data sets, one small family per file: declarations only, so that a plan needs no numerical library."""
