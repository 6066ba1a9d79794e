"""The scikit-learn classes. Private: `skem` has the public names."""
