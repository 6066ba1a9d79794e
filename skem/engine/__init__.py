"""EM for Gaussian mixtures: numbers in, numbers out. Private."""
