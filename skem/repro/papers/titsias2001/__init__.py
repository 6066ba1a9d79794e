"""Titsias, M. K. and Likas, A. C. (2001). Shared kernel models for class conditional density estimation. IEEE
Trans. Neural Networks 12, 987-997.
"""
