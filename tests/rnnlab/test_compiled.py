"""The compiled rungs: a tanh that is close enough, products that are counted, threads that change nothing."""

import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from numba import config, njit
from threadpoolctl import threadpool_info, threadpool_limits

from rnnlab import reference
from rnnlab.cells import find_cell
from rnnlab.kernels.compiled import propagation, recurrence, threads
from rnnlab.kernels.compiled.nonlinear import FAST, sigmoid, tanh
from rnnlab.ladder import RUNGS, find
from rnnlab.ladder.properties import WITH_KERNELS, LedgerSizes
from rnnlab.network import Network


@njit(**FAST)
def apply(a, by_tanh, by_sigmoid):
    for j in range(a.size):
        by_tanh[j] = tanh(a[j])
        by_sigmoid[j] = sigmoid(a[j])


def in_ulp(got, want):
    """Error in units in the last place of the exact value."""
    return np.abs(got.astype("float64") - want) / np.spacing(np.abs(want).astype(got.dtype)).astype("float64")


EVERY = 4_001  # of the float32 numbers, in the order of their bits: 530,000 of them


def of_all_float32():
    """Numbers from the smallest to the largest float32, of both signs."""
    bits = np.arange(1, np.float32(np.inf).view(np.uint32), EVERY, dtype=np.uint32)
    return np.concatenate([bits.view(np.float32), -bits.view(np.float32)])


def by_vectors(a, by_tanh, by_sigmoid):
    """Replace `apply` by a loop over the vectors of packed_weights."""
    from rnnlab.kernels.packed.vectors import lanes, load, sigmoid, store, tanh

    @njit
    def run(a, by_tanh, by_sigmoid):
        for j in range(0, a.size, lanes(a)):
            store(by_tanh, j, tanh(load(a, j)))
            store(by_sigmoid, j, sigmoid(load(a, j)))

    whole = -len(a) % 64
    parts = [np.concatenate([array, np.zeros(whole, array.dtype)]) for array in (a, by_tanh, by_sigmoid)]
    run(*parts)
    by_tanh[:], by_sigmoid[:] = parts[1][: len(a)], parts[2][: len(a)]


@pytest.mark.parametrize("run", [apply, by_vectors], ids=["numbers", "vectors"])
def test_tanh_and_sigmoid_of_every_size_are_within_a_few_units_in_the_last_place(run):
    """The figures of nonlinear.py; 6.3 without a fused multiply-add."""
    a = of_all_float32()
    by_tanh, by_sigmoid = np.empty_like(a), np.empty_like(a)
    run(a, by_tanh, by_sigmoid)
    exact = a.astype("float64")
    assert in_ulp(by_tanh, np.tanh(exact)).max() <= 6.3
    assert np.abs(by_tanh).max() == 1
    middle = exact > -88
    with np.errstate(over="ignore"):
        logistic = 1 / (1 + np.exp(-exact))
    assert in_ulp(by_sigmoid[middle], logistic[middle]).max() <= 3.2
    assert np.abs(by_sigmoid - logistic)[~middle].max() < 4.3e-39


@pytest.mark.parametrize("run", [apply, by_vectors], ids=["numbers", "vectors"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_arguments_give_one_and_what_is_not_a_number_stays_so(run, dtype):
    a = np.array([0.0, -0.0, 23, -23, 3e38, -3e38, np.inf, -np.inf, np.nan], dtype)
    by_tanh, by_sigmoid = np.empty_like(a), np.empty_like(a)
    run(a, by_tanh, by_sigmoid)
    saturated = [1, 1, -1] if dtype == "float32" else [np.tanh(23.0), 1, -1]
    np.testing.assert_array_equal(by_tanh[[2, 4, 5]], saturated)
    np.testing.assert_array_equal(by_tanh[[0, 1, 3, 6, 7, 8]], [0, 0, -by_tanh[2], 1, -1, np.nan])
    np.testing.assert_array_equal(by_sigmoid[[0, 1, 4, 6, 5, 7, 8]], [0.5, 0.5, 1, 1, 0, 0, np.nan])
    assert (np.signbit(by_tanh[:2]) == [False, True]).all()


WITH_LOOPS = ("numba_fused", "numba_parallel", "packed_weights")


@pytest.mark.parametrize("name", WITH_LOOPS)
def test_a_saturated_unit_learns_nothing(name):
    network = Network.create("rnn_tanh", 2, 3, seed=3)
    large = {key: 60 * np.sign(array) for key, array in network.parameters.items()}
    network = network.with_parameters(large)
    x = np.ones((4, 2, 2), "float32")
    rung = find(name).module
    y, _, saved = rung.forward(network, x)
    want, _, stored = reference.forward(network, x)
    np.testing.assert_array_equal(y, want)
    dy = np.ones_like(y)
    got, wanted = rung.backward(network, saved, dy), reference.backward(network, stored, dy)
    np.testing.assert_array_equal(got[0], wanted[0])
    for key, gradient in wanted[2].items():
        np.testing.assert_array_equal(got[2][key], gradient, err_msg=key)


@pytest.mark.parametrize("name", WITH_LOOPS)
@pytest.mark.parametrize("mode", WITH_KERNELS)
def test_what_overflows_is_not_a_number_where_it_is_none_in_the_reference(name, mode):
    """One of three sequences has an input product of ∞ and then a recurrent product of −∞."""
    network = Network.create(mode, 2, 4, seed=1)
    weights = {key: array.copy() for key, array in network.parameters.items()}
    weights["weight_ih_l0"][:] = 3e38
    weights["weight_hh_l0"][:] = -3e38
    if mode == "gru":
        weights["weight_ih_l0"][4:8] = -3e38  # the update gate: the candidate becomes the state
    x = np.zeros((5, 3, 2), "float32")
    x[1:, 1] = 3e38
    for key in ("bias_ih_l0", "bias_hh_l0"):
        weights[key][:] = 0
    network = network.with_parameters(weights)
    with np.errstate(all="ignore"):
        want, _, _ = reference.forward(network, x)
        y, _, _ = find(name).module.forward(network, x)
    assert np.isnan(want).any()
    assert np.isfinite(want[:, 2]).all()
    np.testing.assert_array_equal(np.isnan(y), np.isnan(want))


def test_float32_tanh_is_compiled_to_vector_instructions():
    a = np.ones(64, "float32")
    apply(a, a.copy(), a.copy())
    code = next(text for signature, text in apply.inspect_llvm().items() if "float32" in str(signature))
    assert "x float> " in code
    assert "tanhf" not in code


COUNT = """
import json, sys
import numpy as np
from rnnlab.ladder import find
from rnnlab.kernels.compiled import propagation, recurrence
from rnnlab.network import Network

count, dot = 0, np.dot
def counted(*args, **options):
    global count
    count += 1
    return dot(*args, **options)
np.dot = counted

found = {}
for rung in sys.argv[1:]:
    for cell in ("rnn_tanh", "gru", "lstm"):
        network = Network.create(cell, 4, 6, 1)
        x, dy = np.ones((5, 3, 4), "float32"), np.ones((5, 3, 6), "float32")
        count = 0
        _, _, saved = find(rung).module.forward(network, x)
        forward, count = count, 0
        find(rung).module.backward(network, saved, dy)
        found[f"{rung} {cell}"] = (forward, count)
print(json.dumps(found))
"""


def test_products_are_as_many_as_the_ledger_says():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ledgers = {
        rung.name: rung.properties.ledger
        for rung in RUNGS
        if rung.properties.package == "numba" and rung.properties.ledger.unit == "products"
    }
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *ledgers], env=environment, capture_output=True, text=True, check=True
    )
    counts = json.loads(done.stdout)
    assert len(counts) == 3 * len(ledgers) > 0
    for name, products in counts.items():
        rung, cell = name.split()
        sizes, ledger = LedgerSizes(5, B=3, H=6, G=len(find_cell(cell).gates)), ledgers[rung]
        assert tuple(products) == (ledger.forward(sizes), ledger.backward(sizes)), name


def test_packed_weights_refuse_a_batch_where_nothing_is_compiled(monkeypatch):
    rung = find("packed_weights")
    network = Network.create("gru", 3, 5)
    assert rung.refuses(network, 4, 3) is None
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert "NUMBA_DISABLE_JIT" in rung.refuses(network, 4, 3)
    assert rung.refuses(network, 4, 1) is None  # one sequence is numba_fused's, which runs in Python as well


@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_weights_in_another_order_of_memory_are_laid_out_once_not_at_every_step(cell, monkeypatch):
    network = Network.create(cell, 4, 6)
    turned = network.with_parameters({name: np.asfortranarray(a) for name, a in network.parameters.items()})
    x = np.ones((5, 3, 4), "float32")
    rung = find("numba_fused").module
    y, _, saved = rung.forward(turned, x)
    layouts = []
    monkeypatch.setattr(propagation, "together", lambda tasks: layouts.append(layouts_of(tasks[0])))
    rung.backward(turned, saved, np.ones_like(y))
    assert all(layouts[0])  # the loop over time; later come products, which BLAS computes from any order


def layouts_of(task):
    """Is each matrix that a loop over time multiplies with in C order?"""
    return [a.flags.c_contiguous for a in task.args if getattr(a, "ndim", 0) == 2]


@pytest.mark.corpus
@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_neither_threads_nor_repetition_change_a_bit_of_the_output(cell):
    T, B, I, H = 9, 13, 24, 160  # enough work for two shares
    network = Network.create(cell, I, H, 2, seed=2)
    rng = np.random.default_rng(0)
    x, dy = (rng.normal(size=(T, B, n)).astype("float32") for n in (I, H))
    rung, results = find("numba_parallel").module, []
    for limit in (1, 2, 2):
        with threadpool_limits(limit):
            y, _, saved = rung.forward(network, x)
            results.append((y, *rung.backward(network, saved, dy)[2].values()))
    one, two, again = results
    assert all(np.array_equal(a, b) for a, b in zip(two, again, strict=True))
    for a, b in zip(one, two, strict=True):  # shares of a sum over steps round differently
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_blas_has_its_threads_back_afterwards_even_after_an_error():
    network = Network.create("lstm", 4, 6)
    before = [entry["num_threads"] for entry in threadpool_info()]
    find("numba_parallel").module.forward(network, np.ones((3, 2, 4), "float32"))
    with pytest.raises(ValueError, match="x has dtype float64"):
        find("numba_parallel").module.forward(network, np.ones((3, 2, 4)))
    assert [entry["num_threads"] for entry in threadpool_info()] == before


def blas_threads():
    """Threads of every BLAS that is loaded, as threadpoolctl reports them."""
    return [entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"]


def held_and_after(only=""):
    """Threads of BLAS inside the limit and after it, in the calling thread."""
    with threads.single_threaded_blas(only):
        limited = blas_threads()
    return limited, blas_threads()


@pytest.mark.parametrize("first", ["here", "there"])
def test_every_thread_can_hold_blas_and_leaves_limits_to_others(first):
    before = blas_threads()
    one = [1] * len(before)
    with ThreadPoolExecutor(1) as pool:
        in_the_pool = lambda: pool.submit(held_and_after).result(10)
        runs = [held_and_after, in_the_pool] if first == "here" else [in_the_pool, held_and_after]
        for run in runs * 2:
            assert run() == (one, before)
        with threadpool_limits(1):  # the user's own has an effect afterwards, and stands in other threads
            assert blas_threads() == one
            assert in_the_pool() == (one, one)
            assert threads.count() == 1
        assert blas_threads() == before


def test_blas_is_limited_until_the_last_of_several_threads_lets_it_go():
    before = blas_threads()
    whole = threads.count()
    meet = Barrier(2, timeout=10)

    def hold_longer():
        with threads.single_threaded_blas():
            meet.wait()  # both hold
            meet.wait()  # the other one does no longer
            return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        longer = pool.submit(hold_longer)
        with threads.single_threaded_blas():
            meet.wait()
            assert threads.count() == 1
        assert threads.count() == whole  # what this thread may use once the other has ended
        meet.wait()
        assert longer.result(10) == [1] * len(before)
    assert blas_threads() == before


def test_calls_from_several_threads_at_once_give_one_threads_bits():
    rung = find("numba_parallel").module
    network = Network.create("lstm", 24, 40, seed=3)
    x = np.random.default_rng(1).normal(size=(30, 48, 24)).astype("float32")

    def gradient(_):
        y, _, saved = rung.forward(network, x)
        return rung.backward(network, saved, np.ones_like(y))[2]["weight_hh_l0"].tobytes()

    with threadpool_limits(2), ThreadPoolExecutor(3) as pool:
        alone = gradient(0)
        assert set(pool.map(gradient, range(12))) == {alone}
        assert threads.count() == 2


def test_an_error_in_another_thread_arrives_in_this_one():
    with pytest.raises(ZeroDivisionError):
        threads.together([lambda: None, lambda: 1 / 0])


def test_shares_cover_everything_once():
    for total in range(1, 20):
        for parts in range(1, 8):
            cuts = threads.shares(total, parts)
            assert [k for low, high in cuts for k in range(low, high)] == list(range(total))
            assert max(high - low for low, high in cuts) - min(high - low for low, high in cuts) <= 1
    assert threads.shares(2, 4) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(("K", "N"), [(1, 1), (3, 7), (4, 16), (9, 33)])
def test_a_vector_times_a_matrix_is_numpys(K, N):
    rng = np.random.default_rng(K)
    vector, weights, out = rng.normal(size=K), rng.normal(size=(K, N)), np.full(N, np.nan)
    recurrence.vector_product(vector, weights, out)
    np.testing.assert_allclose(out, vector @ weights, rtol=1e-12, atol=1e-14)


def test_units_are_split_only_where_sequences_do_not_suffice_and_products_are_large():
    wide, narrow = Network.create("lstm", 4, 512), Network.create("lstm", 4, 64)
    assert propagation.should_split_units(wide, 1, 2)
    assert not propagation.should_split_units(wide, 2, 2)
    assert not propagation.should_split_units(narrow, 1, 2)
    assert not propagation.should_split_units(wide, 1, 1)


@pytest.mark.corpus
@pytest.mark.parametrize("cell", WITH_KERNELS)
@pytest.mark.parametrize("large", [0, float("inf")], ids=["BLAS's threads", "compiled"])
def test_who_splits_a_steps_product_changes_no_number(cell, large, monkeypatch):
    monkeypatch.setattr(propagation, "LARGE_PRODUCT", large)
    network = Network.create(cell, 5, 7, layers=2, dtype="float64", seed=1)
    draw = np.random.default_rng(0)
    x, dy = draw.normal(size=(6, 3, 5)), draw.normal(size=(6, 3, 7))
    rung = find("numba_fused").module
    got, want = rung.forward(network, x), reference.forward(network, x)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-12, atol=1e-13)
    dx, dstate, gradients = rung.backward(network, got[2], dy)
    want_dx, want_dstate, want_gradients = reference.backward(network, want[2], dy)
    np.testing.assert_allclose(dx, want_dx, rtol=1e-11, atol=1e-12)
    for a, b in zip(dstate, want_dstate, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(gradient, want_gradients[name], rtol=1e-11, atol=1e-12)


def both_at_once():
    threads.together([lambda: None] * 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    both_at_once()  # the threads of this process
    child = multiprocessing.get_context("fork").Process(target=both_at_once)
    child.start()
    child.join(20)
    is_over = child.exitcode == 0
    child.kill()
    assert is_over


def has_all_threads(expected):
    assert threads.count() == expected
    assert held_and_after() == ([1] * len(blas_threads()), blas_threads())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_while_another_thread_holds_blas_has_all_its_threads():
    whole = threads.count()
    holds, done = Event(), Event()

    def hold():
        with threads.single_threaded_blas():
            holds.set()
            done.wait(30)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert holds.wait(10)
        child = multiprocessing.get_context("fork").Process(target=has_all_threads, args=(whole,))
        child.start()
        child.join(20)
        done.set()
    is_right = child.exitcode == 0
    child.kill()
    assert is_right


@pytest.mark.parametrize("call", range(4))
def test_an_interrupt_at_any_moment_of_a_limit_keeps_no_thread_from_blas(call, monkeypatch):
    before = blas_threads()
    limits = []

    def interrupted(lib, number):
        limits.append(number)
        if len(limits) == call + 1:
            raise KeyboardInterrupt
        limit(lib, number)

    limit = threads._limit
    monkeypatch.setattr(threads, "_limit", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        held_and_after()
    assert held_and_after()[1] == before
