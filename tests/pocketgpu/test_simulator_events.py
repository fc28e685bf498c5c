"""What a watched launch writes down, as columns."""

import numpy as np
import pytest

from pocketgpu import simulator as cuda
from pocketgpu.simulator import trace as events
from pocketgpu.simulator.races import unordered_pairs
from pocketgpu.simulator.settings import SimulatorSettings


def columns_of(kernel, grid, block, *arguments):
    return kernel[grid, block].run(arguments, SimulatorSettings()).trace.columns()


def test_accesses_keep_place_thread_index_and_order():
    @cuda.jit
    def copy(a, b):
        i = cuda.grid(1)
        b[i, 0] = a[i]

    columns = columns_of(copy, 2, 4, np.zeros(8), np.zeros((8, 1)))
    assert columns.kind.tolist() == [events.LOAD, events.STORE] * 8
    assert columns.thread.tolist() == [thread for thread in range(8) for _ in range(2)]
    assert columns.offset[:4].tolist() == [0, 0, 8, 8]
    assert [columns.arrays[place].data.ndim for place in columns.array[:2]] == [1, 2]
    first = copy.py_func.__code__.co_firstlineno
    assert [columns.sites[place].line - first for place in columns.site[:2]] == [3, 3]


def test_accesses_joined_by_operators_are_noted_in_the_order_of_the_text():
    @cuda.jit
    def both(a, b, of, out):
        i = cuda.grid(1)
        tile = cuda.shared.array(4, np.float64)
        tile[i] = a[i] * -b[3 - i] + a[of[i]] * b[(n := i)]
        out[n] += tile[i] + a[of[i]]

    arguments = np.arange(4.0), np.arange(4.0, 8), np.array([2, 0, 3, 1]), np.zeros(4)
    columns = columns_of(both, 1, 4, *arguments)
    mine = np.flatnonzero(columns.thread == 1)
    names = [events.label_of(columns.arrays[place].root.label) for place in columns.array[mine]]
    assert names == "a b of a b tile out tile of a out".split()
    assert columns.offset[mine].tolist() == [8, 16, 8, 0, 8, 8, 8, 8, 8, 0, 8]
    assert np.flatnonzero(columns.kind[mine] == events.STORE).tolist() == [5, 10]


@pytest.mark.parametrize(("first", "second", "stray"), [(4, 0, 1), (0, 4, 2), (4, 4, 1)])
def test_what_follows_a_stray_access_is_not_in_the_record(first, second, stray):
    @cuda.jit
    def product(a, b, out, first, second):
        out[0] = (
            a[first]
            * b[second]
        )  # fmt: skip

    watch = product[1, 1].run((np.ones(4), np.ones(4), np.ones(1), first, second), SimulatorSettings())
    (finding,) = watch.stopped
    line = product.py_func.__code__.co_firstlineno + 2
    assert (finding.kind, finding.line) == ("out_of_bounds", line + stray)
    assert "index 4 of" in finding.message
    assert watch.trace.columns().kind.tolist() == [events.LOAD] * (stray - 1)


def test_a_place_stays_the_same_however_often_python_has_seen_it():
    @cuda.jit(device=True)
    def first_of(a):
        return a[0]

    @cuda.jit
    def many(a, out):
        for _ in range(100):
            out[0] = a[0] + first_of(a)

    columns = columns_of(many, 1, 2, np.zeros(1), np.zeros(1))
    assert np.bincount(columns.site).tolist() == [200, 200, 200]


def test_threads_that_take_turns_are_told_apart():
    @cuda.jit
    def twice(a):
        a[cuda.grid(1)] = 1
        cuda.syncthreads()
        a[cuda.grid(1)] = 2

    columns = columns_of(twice, 1, 3, np.zeros(3))
    stores = columns.kind == events.STORE
    assert columns.thread[stores].tolist() == [0, 1, 2, 2, 0, 1]
    assert (columns.kind == events.BARRIER).sum() == 3
    assert not columns.array[~stores].any()


def test_a_launch_that_touches_nothing_has_empty_columns():
    columns = columns_of(cuda.jit(lambda: None), 2, 2)
    assert len(columns.kind) == len(columns.thread) == len(columns.site) == 0
    assert columns.sites == []


@pytest.mark.parametrize("seed", range(4))
def test_candidates_for_races_are_the_latest_writes_and_the_reads_since_the_last_one(seed):
    """The rule of unordered_pairs, followed access by access."""
    draw = np.random.default_rng(seed)
    count = 80
    cell, scope, epoch, owner = (draw.integers(0, most, count) for most in (3, 2, 2, 3))
    writes = draw.random(count) < 0.5
    atomic = draw.random(count) < 0.4
    groups = {}
    for place, group in enumerate(zip(cell, scope, epoch, strict=True)):
        groups.setdefault(group, []).append(place)
    expected = set()
    for group in groups.values():
        if atomic[group].all():
            continue
        for second in group:
            before = [place for place in group if place < second]
            others = [place for place in before if owner[place] != owner[second]]
            written = [place for place in before if writes[place]]
            for kind in (True, False):
                fitting = [place for place in others if writes[place] and atomic[place] == kind]
                expected |= {(place, second) for place in fitting[-1:]}
            if writes[second]:
                since = max(written, default=-1)
                expected |= {(place, second) for place in others if place > since}
    pairs = unordered_pairs(np.arange(count), cell, scope, epoch, owner, writes, atomic)
    assert {tuple(pair) for pair in pairs.tolist()} == expected
