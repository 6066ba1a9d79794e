"""Hayashi and Uchida (2021): Table 1 and appendix B, held against the paper."""
