"""EM by others on identical work."""
