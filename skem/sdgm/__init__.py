"""The sparse discriminative mixture of Hayashi and Uchida (2021): estimator, features and optimiser."""
