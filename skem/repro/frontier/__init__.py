"""Is the classifier worth choosing? Its variants, one step at a time, beside others on the same features and the same rows."""
