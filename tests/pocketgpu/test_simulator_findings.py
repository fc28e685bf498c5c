"""Wrong kernels are caught at the right lines, their repaired twins pass, no correct kernel is accused."""

import inspect

import numpy as np
import pytest
from simulated_kernels import CORRECT, numbers
from values_in import holds
from wrong_kernels import WRONG

from pocketgpu import cuda


def line(report, number):
    return report.source[number - report.first_line]


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("name", CORRECT)
def test_no_correct_kernel_is_accused(name, shuffle):
    for seed in range(3 if shuffle else 1):
        kernel, grid, block, arguments = CORRECT[name]()  # flags of the last launch are up already
        with cuda.settings(shuffle=shuffle, seed=seed):
            assert cuda.observe(kernel, grid, block, *arguments).findings == ()


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("kernel", WRONG, ids=lambda kernel: kernel.__name__)
def test_a_wrong_kernel_is_caught_at_the_right_lines(kernel, shuffle):
    kind, message, twin = WRONG[kernel]
    _, grid, block, arguments = CORRECT[twin]()
    with cuda.settings(shuffle=shuffle):
        report = cuda.observe(kernel, grid, block, *arguments)
    assert kind in {finding.kind for finding in report.findings}
    lines = [
        {line(report, number) for number in (finding.line, finding.other_line) if number}
        for finding in report.findings
        if finding.kind == kind
    ]
    assert any(all(any(word in text for text in result) for word in message) for result in lines)


def test_a_finding_names_threads_lines_and_the_remedy():
    kernel = next(kernel for kernel in WRONG if kernel.__name__ == "neighbours_without_barrier")
    _, grid, block, arguments = CORRECT["neighbours"]()
    (finding, *_) = cuda.observe(kernel, grid, block, *arguments).findings
    first = inspect.getsourcelines(kernel.py_func)[1]
    assert {finding.line, finding.other_line} == {first + 4, first + 5}
    assert finding.block == finding.other_block
    assert finding.thread != finding.other_thread
    assert holds(str(finding), "cuda.syncthreads")


def test_a_launch_with_findings_raises_them_and_says_so():
    kernel = next(kernel for kernel in WRONG if kernel.__name__ == "histogram_without_atomics")
    _, grid, block, arguments = CORRECT["histogram"]()
    with pytest.raises(cuda.Findings, match="histogram_without_atomics: 1 finding"):
        kernel[grid, block](*arguments)
    with cuda.settings(raise_findings=False):
        kernel[grid, block](*arguments)
    assert kernel.report().findings


def test_memory_of_the_device_that_nobody_wrote_is_noticed_until_it_is_written():
    copy = CORRECT["strided_copy"]()[0]
    fresh, target = cuda.device_array(32, "float32"), cuda.to_device([0.0] * 32)
    (finding,) = cuda.observe(copy, 1, 32, fresh, target, 1).findings
    assert finding.kind == "uninitialised"
    assert cuda.observe(copy, 1, 32, cuda.to_device(numbers(32)), fresh, 1).findings == ()
    assert cuda.observe(copy, 1, 32, fresh, target, 1).findings == ()


@cuda.jit
def flags_and_numbers(x, out, offset):
    whole = cuda.shared.array(0, np.uint8)
    flags = whole[: cuda.blockDim.x]
    numbers = whole[offset:].view(np.float32)
    i = cuda.threadIdx.x
    flags[i] = 1
    numbers[i] = x[i]
    cuda.syncthreads()
    out[i] = numbers[cuda.blockDim.x - 1 - i]


@pytest.mark.parametrize(("offset", "expected"), [(33, ["misaligned", "misaligned"]), (36, [])])
def test_numbers_in_shared_memory_must_stand_at_a_multiple_of_their_size(offset, expected):
    x, out = np.arange(32, dtype="float32"), np.zeros(32, "float32")
    report = cuda.observe(flags_and_numbers, 1, 32, x, out, offset, shared=offset + 128)
    assert [entry.kind for entry in report.findings] == expected
    assert [line(report, entry.line).strip() for entry in report.findings] == [
        "numbers[i] = x[i]",
        "out[i] = numbers[cuda.blockDim.x - 1 - i]",
    ][: len(expected)]
    np.testing.assert_array_equal(out, x[::-1])


def test_a_report_prints_its_table_where_a_notebook_shows_text():
    report = cuda.observe(flags_and_numbers, 1, 32, np.ones(32, "f4"), np.ones(32, "f4"), 32, shared=160)
    assert repr(report) == str(report)
    assert "numbers[i] = x[i]" in repr(report)


def halved(threads, first):
    """Halve the first elements of a shared array by one statement that reads what other threads write."""

    @cuda.jit
    def kernel(out):
        part = cuda.shared.array(128, np.float32)
        t = cuda.threadIdx.x
        part[t] = t
        cuda.syncthreads()
        if t < first:
            part[t] = part[t ^ 1] / 2
        cuda.syncthreads()
        out[t] = part[t]

    return cuda.observe(kernel, 1, threads, np.zeros(threads, np.float32)).findings


@pytest.mark.parametrize(
    ("first", "barrier"), [(24, "syncwarp"), (32, "syncwarp"), (128, "syncthreads"), (96, "syncthreads")]
)
def test_the_barrier_named_for_a_race_within_one_line_is_one_that_all_who_run_it_reach(first, barrier):
    (finding,) = halved(128, first)
    assert finding.kind == "race"
    named = min(("syncwarp", "syncthreads"), key=lambda word: finding.message.find(word) % 999)
    assert named == barrier
    assert ("outside" in finding.message) is (first == 96)  # not all threads come to the line
