"""The CUDA driver's functions: argument types for every function that is called, and what a refusal says."""

import ctypes
import re
from types import SimpleNamespace

import pytest

from nbjudge.authoring.course import ROOT
from rnnlab.gpu import cuda_driver

CALLERS = ("rnnlab/gpu/card.py", "rnnlab/ladder/cuda_chip.py")
POINTERS = {"cuOccupancyMaxActiveClusters"}  # takes nothing but pointers that ctypes made, which need no type


class Driver:
    """Any function by name, as ctypes gives them out: the same object every time."""

    def __getattr__(self, name):
        setattr(self, name, SimpleNamespace(argtypes=None))
        return getattr(self, name)


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver())
    cuda_driver.library.cache_clear()
    yield cuda_driver.library()
    cuda_driver.library.cache_clear()


def test_every_function_that_is_called_has_argument_types(driver):
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in CALLERS]
    called = {name for text in texts for name in re.findall(r"(?:driver\.|call\(.)(cu\w+)", text)} - POINTERS
    assert {"cuLaunchKernel", "cuEventRecord", "cuFuncSetAttribute"} <= called
    assert not [name for name in called if getattr(driver, name).argtypes is None]


def test_a_launch_has_eleven_arguments_and_a_cooperative_one_has_ten(driver):
    assert len(driver.cuLaunchKernel.argtypes) == 11
    assert len(driver.cuLaunchCooperativeKernel.argtypes) == 10


def test_a_status_that_is_not_zero_is_an_error_with_the_functions_name():
    cuda_driver.check_status("cuLaunchKernel", 0)
    with pytest.raises(RuntimeError, match=r"\b700\b"):
        cuda_driver.check_status("cuLaunchKernel", 700)
