"""Other implementations of EM for Gaussian mixtures, which Sanderson and Curtin (2017) compare."""
