"""What the checks of lesson 08 stand on: loads counted by hand, tiles weighed by hand, odd answers."""

import numpy as np
import pytest
from values_in import holds

from nbjudge.exercise import Wrong
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from rnncourse import checks
from rnncourse.checks.lesson_08_packed_products import (
    MARGIN,
    Loads,
    Product,
    _cost,
    _done,
    _excess,
    _poor_tile,
    _unfinished,
    count_loads,
)
from rnncourse.lab.counting_core import CountingCore
from rnncourse.lab.tile_rates import EmittedTile

EXERCISE = {exercise.name: exercise for exercise in checks.exercises("packed_products")}
SMALL = Product(B=2, K=8, panels=2, rows=2, columns=8, near=512, far=4096)


def verdict_of(name, function, seed=1):
    return judge(EXERCISE[name], InProcess(function, name), seed)


def test_one_call_loads_its_sums_its_weights_and_its_states_once():
    # 2 rows of 8 sums, then 2 + 8 numbers for each of 8 terms; lines: 2 of sums, 8 of weights, 2 of states
    assert count_loads([(0, 2, 0, 0, 8)], SMALL) == (2 * 8 + 8 * 10, 12, 12)


def test_what_is_still_in_the_first_cache_is_not_fetched_again():
    twice = [
        (0, 2, 0, 0, 8),
        (0, 2, 1, 0, 8),
    ]  # the states stay; the second panel has weights and sums of its own
    assert count_loads(twice, SMALL) == (2 * (2 * 8 + 8 * 10), 12 + 10, 12 + 10)


def test_a_first_cache_that_is_too_small_fetches_the_weights_for_each_row_again():
    tiny = SMALL._replace(near=6 * 8)  # 6 lines; a row needs 8 of weights, 1 of states, 1 of sums
    rows = [(0, 1, 0, 0, 8), (1, 1, 0, 0, 8)]
    # each row fetches its line of sums, 8 of weights and 1 of states; the sums were pushed out meanwhile
    assert count_loads(rows, tiny).first == 2 * (1 + 8 + 1 + 1)
    # the second cache has all of it after the first time, but for the other row's sums and states
    assert count_loads(rows, tiny).second == 8 + 2 + 2


def test_the_largest_product_fits_as_its_statement_says():
    for seed in range(30):
        *_, sizes = EXERCISE["tiled_product"].cases(np.random.default_rng(seed))
        large = Product(*sizes)
        states, weights = large.B * large.K, large.K * large.panels * large.columns
        panel, sums = large.K * large.columns, large.B * large.columns
        assert states + panel + sums < large.far < weights
        assert panel > large.near


def test_the_first_sum_that_lacks_a_term_is_named():
    assert _unfinished(_done([(0, 2, 0, 0, 8), (0, 2, 1, 0, 8)], SMALL)) is None
    assert holds(_unfinished(_done([(0, 2, 0, 0, 5), (0, 1, 0, 5, 3)], SMALL)), "1", "5", "0")


@pytest.mark.parametrize(
    ("loads", "level"),
    [
        (Loads(100, 50, 20), None),
        (Loads(int(100 * MARGIN), 50, 20), None),
        (Loads(131, 70, 30), "into registers"),
        (Loads(100, 70, 30), "into the first cache"),
        (Loads(90, 40, 27), "into the second cache"),
    ],
)
def test_the_level_nearest_to_the_arithmetic_is_named_first(loads, level):
    problem = _excess(loads, Loads(100, 50, 20))
    assert (problem is None) if level is None else level in problem.message


def test_the_cost_of_a_tile_counts_the_rows_that_are_left_over():
    # 10 rows in tiles of 4, 4 and 2 rows by 3 vectors, latency 4, 2 multiply-adds and 2 loads a cycle:
    # 6 + 6 + 4 cycles and 7 + 7 + 5 loads for 3 vectors
    assert _cost((4, 3), 10, 4, 2, 2) == pytest.approx((16 / 3, 19 / 3))


@pytest.mark.parametrize(
    ("tile", "problem"),
    [
        ((4, 3), None),
        ([np.int64(4), 3], None),
        ((6, 2), "2 × 8 loads a term; divided by v = 2 that is 8, and 7 is possible"),
        ((4, 4), "needs 21 registers: 4 × 4 for sums, 4 for weights and 1 for states; the core has 16"),
        ((2, 2), "6 × 4 cycles a term; divided by v = 2 that is 12, and 6 is possible"),
        ((0, 3), "1 to 12 rows"),
        ((13, 1), "1 to 12 rows"),
        ((4, 0), "at least 1 vector"),
        ((4.0, 3), None),
        ((3, 4), "has 4 rows of 3 vectors"),
        ((4.5, 3), "pair of whole numbers"),
        ((True, True), "pair of whole numbers"),
        (4, "pair of whole numbers"),
        (None, "pair of whole numbers"),
    ],
)
def test_tiles_of_12_rows_on_16_registers(tile, problem):
    seen = _poor_tile(tile, 12, 16, 4, 2, 2)
    assert (seen is None) if problem is None else problem in seen


@pytest.mark.parametrize("count", [0, -1, 1.0, None, "1", np.ones(2)])
def test_a_call_that_makes_no_sense_is_wrong_in_words(count):
    verdict = verdict_of("tiled_product", lambda multiply, *_: multiply(0, count, 0, 0, 1))
    assert not verdict.passed
    assert "multiply" in verdict.message


def test_a_refused_call_fails_whatever_the_answer_does_afterwards():
    def tiled_product(multiply, B, K, panels, near):
        EXERCISE["tiled_product"].reference(multiply, B, K, panels, near)
        try:
            multiply(0, 1, 0, 0, 1)
        except Exception:
            return

    verdict = verdict_of("tiled_product", tiled_product)
    assert "a second time" in verdict.message


def test_a_core_counts_and_names_the_first_term_that_a_result_lacks():
    core = CountingCore(rows=1, vectors=2, terms=3, registers=4)
    core.zero(0)
    for k in (0, 2):
        core.load(2, k, 1)
        core.spread(3, 0, k)
        core.multiply_add(0, 2, 3)
    assert (core.loads, core.multiplies, core.missing) == (4, 2, (0, 0))
    with pytest.raises(Wrong, match=r"store\(0, 0, 1\).*\b1 of 3.*row 0, vector 1.*\b2\b"):
        core.store(0, 0, 1)


@pytest.mark.parametrize(
    ("instruction", "numbers", "values"),
    [
        ("load", (7, 0, 0), "7.*0.*6"),  # no register 7
        ("load", (0, 3, 0), "k.*3"),  # terms are 0, 1, 2
        ("spread", (0, 0, -1), "k.*-1"),
        ("multiply_add", (0, 1, 3), "term 0.*term 1"),  # different terms
        ("multiply_add", (0, 1, 1), "1"),  # no state
        ("multiply_add", (1, 1, 2), "vector 0 of term 0"),  # not a sum
        ("multiply_add", (4, 1, 2), "row 1, vector 1"),  # another sum
        ("multiply_add", (5, 1, 2), "term 0"),  # a second time
        ("multiply_add", (6, 1, 2), "6"),  # never written
        ("store", (1, 0, 0), "row 0, vector 0"),
        ("zero", (0.5,), "0.5"),
    ],
)
def test_an_instruction_that_makes_no_sense_is_refused_with_its_numbers(instruction, numbers, values):
    core = CountingCore(rows=2, vectors=2, terms=3, registers=7)
    for total in (0, 4, 5):
        core.zero(total)
    core.load(1, 0, 1)
    core.spread(2, 1, 0)
    core.multiply_add(4, 1, 2)
    core.load(1, 0, 0)
    core.spread(2, 0, 0)
    core.multiply_add(5, 2, 1)
    core.spread(3, 0, 1)
    with pytest.raises(Wrong, match=values):
        getattr(core, instruction)(*numbers)


@pytest.mark.parametrize("tile", [(1, 1), (3, 2), (2, 4)])
def test_the_same_function_is_counted_and_compiled(tile):
    emit, (rows, vectors) = EXERCISE["emit_tile"].reference, tile
    core = CountingCore(rows, vectors, 5, registers=rows * vectors + vectors + 1)
    emit(core, rows, vectors, 5)
    assert core.missing is None
    assert (core.loads, core.multiplies, core.stores) == (
        5 * (rows + vectors),
        5 * rows * vectors,
        rows * vectors,
    )
    assert EmittedTile(emit, rows, vectors).is_right()


def test_an_emitted_tile_that_leaves_out_a_term_is_not_right():
    own = EXERCISE["emit_tile"].reference
    assert not EmittedTile(lambda core, *sizes: own(core, *sizes[:2], sizes[2] - 1), 2, 2).is_right()
