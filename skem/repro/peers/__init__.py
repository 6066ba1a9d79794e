"""Other implementations of EM for Gaussian mixtures, timed on identical work."""
