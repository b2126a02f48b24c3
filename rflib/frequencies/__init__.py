"""How the frequencies of Fourier features are drawn: their directions and norms."""
