"""Regression test: compare accuracies with the committed reference, and times with a base revision."""
