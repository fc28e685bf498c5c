"""Hypothesis as all tests use it: the same examples each time, however long one takes on a busy machine."""

import pytest

pytest.importorskip("hypothesis", reason="install hypothesis: make test")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

settings.register_profile(
    "rnnlab", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rnnlab")
__all__ = ["given", "settings", "st"]
