"""Compare a result with its reference, and name the first difference."""
