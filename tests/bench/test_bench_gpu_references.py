"""The float64 reference by PyTorch is the reference by NumPy; whatever keeps PyTorch away leaves NumPy's."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from values_in import holds

from bench.gpu import references
from bench.workload import by_numpy, problem
from rnncourse.records.workload import Workload
from rnnlab.ladder.properties import WITH_KERNELS

SMALL = Workload("lstm", 3, 2, 4, 5, 2)


@pytest.fixture
def numbers(monkeypatch):
    """A problem's network, x and dy; PyTorch with a GPU is pretended to be there."""
    inputs = problem(SMALL, "float32")
    module = ModuleType("torch")
    module.__spec__ = SimpleNamespace()
    module.cuda = SimpleNamespace(is_available=lambda: True)
    monkeypatch.setitem(sys.modules, "torch", module)
    references._distance.cache_clear()
    yield inputs.network, inputs.x, inputs.dy
    references._distance.cache_clear()


@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_pytorch_and_numpy_compute_the_same_reference(cell):
    pytest.importorskip("torch")
    for layers in (1, 2):
        assert references.distance(cell, layers, "cpu") < 1e-14


def test_the_reference_is_pytorchs_where_it_agrees_with_numpy(numbers, monkeypatch):
    devices = []

    def by_torch(network, x, dy, device):
        devices.append(device)
        return by_numpy(network, x, dy).arrays

    monkeypatch.setattr(references, "by_torch", by_torch)
    arrays, source = references.exact(*numbers)
    assert devices == ["cuda", "cuda"]  # the small network first
    assert holds(source, "PyTorch", "float64", "GPU")
    assert arrays.keys() >= {"y", "dx", "weight_hh_l1"}


def test_a_pytorch_that_computes_something_else_is_not_believed(numbers, monkeypatch):
    def by_torch(network, x, dy, device):
        exact = by_numpy(network, x, dy).arrays
        return exact | {"weight_hh_l0": exact["weight_hh_l0"] * (1 + 1e-9)}

    monkeypatch.setattr(references, "by_torch", by_torch)
    arrays, source = references.exact(*numbers)
    assert holds(source, "NumPy", "float64", "PyTorch", "float64")
    np.testing.assert_array_equal(arrays["y"], by_numpy(*numbers).arrays["y"])


def test_a_pytorch_without_memory_leaves_the_reference_to_numpy(numbers, monkeypatch):
    def by_torch(network, x, dy, device):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(references, "by_torch", by_torch)
    assert holds(references.exact(*numbers).source, "NumPy", "float64", "PyTorch", "CUDA")
