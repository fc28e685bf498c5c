"""Scans give the states of the loop over time, and cost the compositions and levels that they state."""

from functools import partial

import numpy as np
import pytest
from properties import given, st

from rnnlab import scan
from rnnlab.ladder import parallel_in_time
from rnnlab.scan import Maps

SCANS = {
    "sequential": scan.sequential,
    "hillis_steele": scan.hillis_steele,
    "blelloch": scan.blelloch,
    "chunks of 1": partial(scan.chunked, chunk=1),
    "chunks of 5": partial(scan.chunked, chunk=5),
    "one chunk": partial(scan.chunked, chunk=1000),
}


def problem(T, matrix, seed=0):
    """Maps of two recurrences with three states each, and the states before the first step."""
    rng = np.random.default_rng(seed)
    a = 0.7 * rng.normal(size=(T, 2, 3, *((3,) if matrix else ())))
    return Maps(a, rng.normal(size=(T, 2, 3))), rng.normal(size=(2, 3))


def loop(maps, h):
    states = []
    for a, b in zip(*maps, strict=True):
        h = b + (np.einsum("nij,nj->ni", a, h) if a.ndim == 3 else a * h)
        states.append(h)
    return np.array(states)


@pytest.mark.parametrize("matrix", [False, True], ids=["diagonal", "matrix"])
@pytest.mark.parametrize("name", SCANS)
@given(T=st.integers(1, 40))
def test_a_scan_gives_the_states_of_the_loop(name, matrix, T):
    maps, first = problem(T, matrix, seed=T)
    assert np.allclose(scan.states(maps, first, SCANS[name]), loop(maps, first), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", SCANS)
def test_a_scan_in_reverse_runs_from_the_last_step(name):
    maps, last = problem(13, matrix=True)
    want = loop(Maps(maps.a[::-1], maps.b[::-1]), last)[::-1]
    assert np.allclose(scan.reversed_states(maps, last, SCANS[name]), want, rtol=1e-10)


def test_order_matters_and_grouping_does_not():
    maps, _ = problem(3, matrix=True)
    first, second, third = (maps.part(t, t + 1) for t in range(3))
    left = scan.compose(third, scan.compose(second, first))
    right = scan.compose(scan.compose(third, second), first)
    assert np.allclose(left.a, right.a)
    assert np.allclose(left.b, right.b)
    assert not np.allclose(scan.compose(second, first).b, scan.compose(first, second).b)


@pytest.mark.parametrize(
    ("run", "levels", "compositions"),
    [
        (scan.sequential, 63, 63),
        (scan.hillis_steele, 6, 64 * 6 - 63),  # level k leaves 2ᵏ maps alone
        (scan.blelloch, 11, 120),
        (partial(scan.chunked, chunk=8), 7 + 7 + 1, 56 + 7 + 56),
    ],
)
def test_a_scan_of_64_steps_takes_the_levels_and_compositions_that_it_states(run, levels, compositions):
    sizes = []

    def compose(later, earlier):
        sizes.append(len(later.b))
        return scan.compose(later, earlier)

    run(problem(64, matrix=False)[0], compose=compose)
    assert (len(sizes), sum(sizes)) == (levels, compositions)


@pytest.mark.parametrize("matrix", [False, True], ids=["diagonal", "matrix"])
@pytest.mark.parametrize("kind", ["no state", "tiny input", "state that ends"])
@pytest.mark.parametrize("name", SCANS)
def test_states_are_finite_where_the_loop_is_although_products_of_the_steps_overflow(name, kind, matrix):
    """Steps that grow by 3 for 700 steps, 3⁷⁰⁰ = 10³³⁴, in float64."""
    T = 700
    b = np.zeros((T, 2, 3))
    a = np.full_like(b, 3.0)
    h0 = np.zeros(b.shape[1:])
    if kind == "no state":
        b[-3:, 1] = 2.5
    elif kind == "tiny input":
        b[:] = 1e-60 * np.random.default_rng(1).normal(size=b.shape)
    else:
        a[300] = 0.0
        b[20:, 0] = 1e-30
    maps = Maps(a[..., None] * np.eye(3) if matrix else a, b)
    want = loop(maps, h0)
    assert np.isfinite(want).all()
    assert np.allclose(scan.states(maps, h0, SCANS[name]), want, rtol=1e-11, atol=0)
    reversed_maps = Maps(maps.a[::-1], maps.b[::-1])
    got = scan.reversed_states(reversed_maps, h0, SCANS[name])[::-1]
    assert np.allclose(got, want, rtol=1e-11, atol=0)


def test_states_overflow_where_those_of_the_loop_do():
    b = np.zeros((2_000, 1))
    b[5] = 1.0
    with pytest.warns(RuntimeWarning, match="overflow"):
        h = scan.states(Maps(np.full_like(b, 2.0), b), np.zeros(1))
    assert np.isfinite(h[:1028]).all()
    assert not np.isfinite(h[1030:]).any()


@pytest.mark.parametrize("matrix", [False, True], ids=["diagonal", "matrix"])
@pytest.mark.parametrize("name", SCANS)
def test_no_steps_have_no_states(name, matrix):
    shape = (2, 3)
    maps = Maps(np.empty((0, *shape, 3) if matrix else (0, *shape)), np.empty((0, *shape)))
    assert [array.shape for array in SCANS[name](maps)] == [array.shape for array in maps]
    assert scan.states(maps, np.ones(shape), SCANS[name]).shape == (0, *shape)


@pytest.mark.parametrize("chunk", [0, -1, 2.5])
def test_a_chunk_that_is_no_number_of_steps_is_refused(chunk):
    with pytest.raises(ValueError, match=str(chunk)):
        scan.chunked(problem(4, matrix=False)[0], chunk)


def test_eleven_hundred_gates_underflow_in_float32_and_the_scan_stays_right():
    gates = np.full((1100, 1), 0.9, "float32")
    maps = Maps(gates, 1 - gates)
    assert np.cumprod(gates)[-1] < np.finfo("float32").tiny  # a denormal number, or 0
    states = scan.states(maps, np.zeros(1, "float32"))
    assert np.allclose(states[:, 0], 1 - 0.9 ** np.arange(1, 1101), rtol=2e-6)


@pytest.fixture
def compiled():
    pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")
    from rnnlab.kernels.compiled import scan as compiled

    return compiled


@pytest.mark.parametrize("is_reversed", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("T", [1, 2, 3, 37, 1100])
def test_compiled_chunks_give_the_states_of_the_loop_by_any_number_of_threads(
    compiled, T, dtype, is_reversed
):
    exact, first = problem(T, matrix=False, seed=T)
    maps, first = Maps(*(array.astype(dtype) for array in exact)), first.astype(dtype)
    order = slice(None, None, -1 if is_reversed else 1)
    ordered = Maps(*(array[order].astype("float64") for array in maps))
    want = np.concatenate([first[None], loop(ordered, first.astype("float64"))])[order]
    for parts in (None, 1, 2, 3, 5):
        h = compiled.states(maps, first, is_reversed, parts)
        assert h.dtype == dtype
        assert np.allclose(h, want, rtol=0, atol=(2e-6 if dtype == "float32" else 1e-14) * np.abs(want).max())
    in_float64 = Maps(*(array.astype("float64") for array in maps))
    by_numpy = parallel_in_time._by_numpy(in_float64, first.astype("float64"), is_reversed)
    assert np.allclose(by_numpy, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("is_reversed", [False, True], ids=["forward", "reversed"])
def test_compiled_chunks_are_finite_where_the_loop_is(compiled, is_reversed):
    b = np.zeros((900, 2), "float32")
    b[-4:] = 1.5
    a = np.full_like(b, 2.0)
    maps = Maps(a[::-1], b[::-1]) if is_reversed else Maps(a, b)
    h = compiled.states(maps, np.zeros(2, "float32"), is_reversed, parts=3)
    want = loop(Maps(a, b), np.zeros(2))
    assert np.allclose(h[:-1][::-1] if is_reversed else h[1:], want, rtol=1e-6, atol=0)


@pytest.mark.parametrize(("parts", "dependent"), [(1, 60), (2, 40), (5, 20)])
def test_threads_share_chunks_of_which_two_follow_one_another(compiled, parts, dependent, monkeypatch):
    longest = []

    def together(tasks):
        longest.append(max(task.args[-2] - task.args[-3] for task in tasks))
        assert len(tasks) <= parts
        for task in reversed(tasks):  # in any order
            task()

    monkeypatch.setattr(compiled.threads, "together", together)
    maps, first = problem(60, matrix=False)
    assert np.allclose(compiled.states(maps, first, parts=parts)[1:], loop(maps, first), rtol=1e-12)
    assert sum(longest) == dependent
