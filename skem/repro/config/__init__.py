"""The configuration: YAML read strictly, pydantic models, experiments, and targets of the command line."""
