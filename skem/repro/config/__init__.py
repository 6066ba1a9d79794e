"""The configuration: YAML read strictly, pydantic models, and experiments."""
