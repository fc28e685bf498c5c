"""Memory of packed products: what a step allocates, and pages that the process has already."""

import ctypes
import platform
import resource
import tracemalloc

import numpy as np
import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from bench import cpu_bounds, cpu_targets, performance_page
from rnncourse.records.workload import Workload
from rnnlab.kernels.packed import memory, propagation
from rnnlab.ladder import find
from rnnlab.network import Network

_, RECORD = performance_page.latest()
SPREAD = 1.05  # what PyTorch needed for one size differed by a tenth between three records of one machine
FEWEST = find("packed_weights").module.FEWEST
CASES = {
    str(workload): (workload, case["memory"]["pytorch"])
    for case in RECORD["cases"]
    if (workload := Workload(**case["workload"])).B >= FEWEST
}


def most_bytes(workload, threads, monkeypatch, storage=""):
    """Bytes of the arrays that exist at once in a training step; nothing is computed."""
    cell, T, B, I, H, L = workload
    network = Network.create(cell, I, H, L)
    x, dy = np.zeros((T, B, I), "float32"), np.zeros((T, B, H), "float32")
    monkeypatch.setattr(propagation.team, "run", lambda task, members, arrivals: None)
    with np.errstate(all="ignore"):
        propagation.forward(network, x, None, threads, storage)  # what is made once, like products of 16 bits
        tracemalloc.start()
        y, _, saved = propagation.forward(network, x, None, threads, storage)
        results = propagation.backward(network, saved, dy, None, threads)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert y.shape == dy.shape
    assert results[0].shape == x.shape
    return most


@pytest.mark.parametrize("name", CASES)
def test_a_step_allocates_no_more_than_pytorch_needed_in_the_record(name, monkeypatch):
    workload, allowed = CASES[name]
    assert most_bytes(workload, RECORD["settings"]["threads"], monkeypatch) <= SPREAD * allowed


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][0].H == 1024])
def test_one_thread_allocates_no_more_than_two(name, monkeypatch):
    assert most_bytes(CASES[name][0], 1, monkeypatch) <= most_bytes(CASES[name][0], 2, monkeypatch)


WIDE = {name: workload for name, (workload, _) in CASES.items() if workload[1:5] in cpu_targets.WIDE_STEPS}


@pytest.mark.parametrize("name", WIDE)
def test_a_step_in_16_bits_allocates_little_beside_what_it_must(name, monkeypatch):
    most = most_bytes(WIDE[name], 2, monkeypatch, propagation.BFLOAT16)
    assert most <= 1.3 * sum(cpu_bounds.bytes_needed(WIDE[name]))
    assert most < most_bytes(WIDE[name], 2, monkeypatch)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is of GNU's C library")
def test_memory_that_was_freed_is_there_again_without_a_page_from_the_system():
    def pages():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        arrays = [np.ones(size, "uint8") for size in (30 * 2**20, 20 * 2**20)]
        del arrays
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert memory.keep_freed()
    pages()  # the heap grows once
    assert pages() < 10
    ctypes.CDLL(None).malloc_trim(0)
    assert pages() >= 10


def test_variables_of_the_library_that_are_set_stay_as_they_are(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    assert not memory.keep_freed.__wrapped__()
