"""The compiled rungs: a tanh that is close enough, products that are counted, threads that change nothing."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from threadpoolctl import threadpool_info, threadpool_limits

from rnnlab import reference
from rnnlab.cells import find_cell
from rnnlab.kernels.compiled import passes, recurrence, threads
from rnnlab.kernels.compiled.nonlinear import FAST, sigmoid, tanh
from rnnlab.ladder import RUNGS, find
from rnnlab.ladder.facts import WITH_KERNELS, LedgerSizes
from rnnlab.ladder.numba_fused import forward as fused_forward
from rnnlab.network import Network


@njit(**FAST)
def apply(a, by_tanh, by_sigmoid):
    for j in range(a.size):
        by_tanh[j] = tanh(a[j])
        by_sigmoid[j] = sigmoid(a[j])


def in_ulp(got, want):
    """Error in units in the last place of the exact value."""
    return np.abs(got.astype("float64") - want) / np.spacing(np.abs(want).astype(got.dtype)).astype("float64")


@pytest.mark.parametrize(
    ("dtype", "tanh_ulp", "sigmoid_ulp"), [("float32", 4.5, 3.5), ("float64", 2.0, None)]
)
def test_tanh_and_sigmoid_are_within_a_few_units_in_the_last_place(dtype, tanh_ulp, sigmoid_ulp):
    small = np.geomspace(1e-6, 1, 20_001)
    a = np.concatenate([np.linspace(-12, 12, 200_001), small, -small]).astype(dtype)
    a = a[a != 0]
    by_tanh, by_sigmoid = np.empty_like(a), np.empty_like(a)
    apply(a, by_tanh, by_sigmoid)
    exact = a.astype("longdouble")
    assert in_ulp(by_tanh, np.tanh(exact).astype("float64")).max() <= tanh_ulp
    logistic = (1 / (1 + np.exp(-exact))).astype("float64")
    if sigmoid_ulp:
        assert in_ulp(by_sigmoid, logistic).max() <= sigmoid_ulp
    assert np.abs(by_sigmoid - logistic).max() <= 3 * np.finfo(dtype).eps


def test_large_arguments_give_one_and_zero_gives_zero():
    a = np.array([0.0, 1e4, -1e4, 3e38, -3e38], "float32")
    by_tanh, by_sigmoid = np.empty_like(a), np.empty_like(a)
    apply(a, by_tanh, by_sigmoid)
    np.testing.assert_allclose(by_tanh, [0, 1, -1, 1, -1], atol=1e-6)
    np.testing.assert_allclose(by_sigmoid, [0.5, 1, 0, 1, 0], atol=1e-6)


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
from rnnlab.kernels.compiled import passes, recurrence
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
        rung.name: rung.facts.ledger
        for rung in RUNGS
        if rung.facts.package == "numba" and rung.facts.ledger.unit == "products"
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


def test_writing_to_the_output_does_not_go_unseen():
    y, _, _ = fused_forward(Network.create("rnn_tanh", 2, 3), np.ones((2, 1, 2), "float32"))
    with pytest.raises(ValueError, match="read-only"):
        y += 1


@pytest.mark.parametrize(("K", "N"), [(1, 1), (3, 7), (4, 16), (9, 33)])
def test_a_vector_times_a_matrix_is_numpys(K, N):
    rng = np.random.default_rng(K)
    vector, weights, out = rng.normal(size=K), rng.normal(size=(K, N)), np.full(N, np.nan)
    recurrence.vector_product(vector, weights, out)
    np.testing.assert_allclose(out, vector @ weights, rtol=1e-12, atol=1e-14)


def test_units_are_split_only_where_sequences_do_not_suffice_and_products_are_large():
    wide, narrow = Network.create("lstm", 4, 512), Network.create("lstm", 4, 64)
    assert passes.should_split_units(wide, 1, 2)
    assert not passes.should_split_units(wide, 2, 2)
    assert not passes.should_split_units(narrow, 1, 2)
    assert not passes.should_split_units(wide, 1, 1)


@pytest.mark.parametrize("cell", WITH_KERNELS)
@pytest.mark.parametrize("large", [0, float("inf")], ids=["BLAS's threads", "compiled"])
def test_who_splits_a_steps_product_changes_no_number(cell, large, monkeypatch):
    monkeypatch.setattr(passes, "LARGE_PRODUCT", large)
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
