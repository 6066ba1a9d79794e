"""Fixtures of the engine's tests."""

import pytest

from skem.engine import problem


@pytest.fixture(params=["all classes as one chunk", "each class by itself"], scope="module")
def both_ways(request):
    """Small data takes the first way, large data the second; here both take both."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "each class by itself":
            patch.setattr(problem, "ONE_CHUNK", 0)
        yield
