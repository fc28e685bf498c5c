"""Cases of the slow leg in tests that try others in the quick one."""

import pytest


def in_full(*values: object) -> object:
    """One case, marked slow."""
    return pytest.param(*values, marks=pytest.mark.slow)
