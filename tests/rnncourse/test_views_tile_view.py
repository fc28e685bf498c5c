"""The picture of a tile shows the registers, loads and cycles that can be counted by hand."""

import pytest
from values_in import holds

from rnncourse.views.tile_view import (
    EMPTY,
    REGISTERS,
    ROWS,
    SPILLED,
    STATES,
    SUM,
    VECTORS,
    WEIGHTS,
    cells,
    cycles,
    draw_cliff,
    explore_tile,
    find_cliff,
    finding,
)
from rnnlab.kernels.packed.tiles import Core, Tile, predicted_rate


@pytest.mark.parametrize("registers", REGISTERS)
def test_each_sum_is_in_a_register_or_spilled_and_nothing_else_is_drawn(registers):
    for rows in (ROWS[0], 5, ROWS[-1]):
        for vectors in (VECTORS[0], 2, VECTORS[-1]):
            seen = cells(Tile(rows, vectors), Core(registers=registers)).ravel().tolist()
            counts = {kind: seen.count(kind) for kind in (SUM, SPILLED, WEIGHTS, STATES)}
            assert counts[SUM] + counts[SPILLED] == rows * vectors
            assert counts[SUM] == min(rows * vectors, registers - vectors - 1)
            assert (counts[WEIGHTS], counts[STATES]) == (vectors, rows)
            assert seen.count(EMPTY) == len(seen) - sum(counts.values())


@pytest.mark.parametrize(
    ("tile", "registers", "counted"),
    [
        ((8, 2), 32, (8, 5, 4)),  # 16 multiply-adds at 2 a cycle; 8 + 2 loads at 2 a cycle
        ((4, 1), 32, (2, 2.5, 4)),
        ((6, 3), 16, (9, (6 + 3 + 2 * 6) / 2, 4)),  # 22 of 16 registers: 6 sums are loaded and stored
    ],
)
def test_cycles_are_those_counted_by_hand_and_the_longest_gives_the_predicted_rate(tile, registers, counted):
    core = Core(registers=registers)
    assert cycles(Tile(*tile), core) == pytest.approx(counted)
    assert predicted_rate(Tile(*tile), core) == pytest.approx(counted[0] / max(counted))


def test_finding_states_registers_spills_loads_and_the_predicted_rate():
    assert holds(finding(8, 2, 32), "19", "32", "0.62", "100%")
    assert "11 sums spilled" in finding(12, 2, 16)


def test_registers_that_no_processor_has_are_refused():
    with pytest.raises(ValueError, match=r"\b20\b.*\b16\b.*\b32\b"):
        explore_tile(registers=20)


def test_the_cliff_names_the_best_tile_that_fits_and_those_that_spill():
    rates = {(1, 1): 30.0, (4, 3): 100.0, (8, 2): 40.0, (9, 2): 50.0}
    assert holds(find_cliff(rates, 16), "16", "4", "3", "100", "8", "2", "40", "9", "50")
    assert draw_cliff(rates, 16).axes[0].get_ylim()[0] == 0
    assert "spill" not in find_cliff(rates, 32)
