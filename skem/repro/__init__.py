"""Reproduction of the papers, which the workflow runs. Private: users of the library never import it."""
