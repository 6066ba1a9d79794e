"""Pulford, G. W. (2022). Improvements to Supervised EM Learning of Shared Kernel Models by Feature Space
Partitioning.
"""
