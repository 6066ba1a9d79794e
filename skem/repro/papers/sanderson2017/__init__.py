"""Sanderson and Curtin (2017): Table 1, Figure 2 and what they advise, held against the paper."""
