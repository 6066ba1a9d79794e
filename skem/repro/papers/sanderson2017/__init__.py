"""Sanderson and Curtin (2017): Table 1, Figure 2 and numerical advice, compared with the paper."""
