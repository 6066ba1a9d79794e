"""The reproduction of the papers: what the workflow runs, and users of the library never import. Private."""
