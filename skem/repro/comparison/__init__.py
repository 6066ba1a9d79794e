"""Comparison with other classifiers on the same features and samples: images, tables, and outliers."""
