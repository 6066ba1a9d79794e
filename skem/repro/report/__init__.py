"""One page of what a run left."""
