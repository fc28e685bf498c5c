"""The step view: parts as counted by hand, refusals with their reason, records only where they belong."""

from itertools import product

import pytest
from values_in import holds

from rnncourse import records
from rnncourse.figures.picture import png
from rnncourse.views import step_view
from rnncourse.views.step_view import DEVICES, explore_step, finding, recorded, rows

LSTM = "lstm", 512, 4, "bfloat16", "H200"
STEPS = 256


def figure_step(*chosen):
    return step_view._draw(step_view._empty(), *chosen)


def keep(folder, date="2027-01-01T00:00:00", gpu=("NVIDIA H200", 132), suite="persistent", **times):
    """A made-up record of a 512-unit LSTM at minibatch 4 in bfloat16; `times` are microseconds a step."""
    results = [
        {"name": name, "dtype": "bfloat16", "seconds": {"forward": [time * STEPS * 1e-6]}}
        for name, time in times.items()
    ]
    refused = {"name": "persistent_cluster", "dtype": "bfloat16", "seconds": {}, "left_out": "no room"}
    workload = {"cell": "lstm", "T": STEPS, "B": 4, "I": 512, "H": 512, "L": 1}
    deeper = {"suite": suite, "workload": workload | {"L": 4}, "results": results}
    case = {"suite": suite, "workload": workload, "results": [*results, refused]}
    machine = {"gpu": dict(zip(("name", "multiprocessors"), gpu, strict=True))}
    record = {"kind": "bench gpu", "complete": True, "date": date, "machine": machine}
    record |= {"commit": "", "changed": [], "code": "", "settings": {}, "cases": [case, deeper]}
    records.write(records.place(record, folder), record)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """A place for records that starts empty."""
    monkeypatch.setattr(records, "MEASURED", tmp_path)
    return tmp_path


def test_parts_are_those_counted_by_hand():
    graph, grid, cluster = rows(*LSTM)
    assert graph.parts["two graph nodes"] == 2 * 1.3
    # 128 blocks of 4 units; 2·4·512²·8 FLOP at 128/132 of 0.65 · 989 TFLOP/s
    product = 2 * 4 * 512**2 * 8 / (0.65 * 989e6 * 128 / 132)
    # until others have polled what was published: the L2's latency twice, 0.151 µs each
    assert grid.parts == pytest.approx({"exchange": 0.302, "broadcast": 0.0, "product": product})
    # 16 blocks of 8 warps; each warp reads 8·512 numbers of 2 bytes, 128 bytes a clock of 1.755 GHz
    read = 8 * 8 * 512 * 2 / 128 / 1755
    pushed = 8 * 512 * 2 / 23e3  # at 23 GB/s into each multiprocessor, while warps read
    assert pushed > read
    assert cluster.parts == pytest.approx({"exchange": 0.25, "broadcast": pushed, "product": 0})
    assert cluster.step == pytest.approx(0.25 + pushed)


def test_a_broadcast_of_64_sequences_is_what_the_barrier_does_not_hide():
    grid = rows("lstm", 512, 64, "bfloat16", "H200")[1]
    assert grid.parts["broadcast"] == pytest.approx(128 * 64 * 512 * 2 / 9800e3 - 0.151)


def test_a_refused_kernel_has_no_parts_and_its_row_says_why():
    _, grid, cluster = rows("lstm", 2048, 64, "tf32", "A100")
    assert not grid.parts
    assert not cluster.parts
    sentence = [text.get_text() for text in figure_step("lstm", 2048, 64, "tf32", "A100").axes[0].texts]
    assert holds(sentence[1], "2048", "lstm", "tf32", "108", "A100")
    assert holds(sentence[2], "A100", "8.0", "9.0")


def test_the_text_states_every_part_and_that_none_is_measured(folder):
    sizes, graph = "lstm 512 4 bfloat16 H200", "CUDA 2.6 0.214 2.81"
    grid, cluster = "grid 0.302 0 0.0269 0.329", "cluster 0.25 0.356 0 0.606"
    values = f"{sizes} {graph} {grid} {cluster} grid 92 H200"
    assert holds(finding(*LSTM), *values.split())


def test_the_text_gives_the_whole_reason_of_a_refusal():
    sentence = finding("gru", 768, 8, "float16", "H100")
    assert holds(sentence, "cluster", "768", "gru")
    assert holds(sentence, "512", "32", "grid")


def test_a_bar_follows_the_one_before_it_and_ends_at_the_step(folder):
    figure = figure_step(*LSTM)
    axis = figure.axes[0]
    assert "predicted floor, not measured" in axis.get_title()
    bars = [(bar.get_x(), bar.get_width()) for bar in axis.patches]
    assert len(bars) == 2 + 3 + 3
    assert bars[3][0] == pytest.approx(0.302)
    assert sum(bars[-1]) == pytest.approx(rows(*LSTM)[2].step)
    assert not axis.lines


def test_a_record_is_marked_beside_its_floor_and_what_remains_is_drawn(folder):
    keep(folder, persistent_grid=1.9, graph_replay=2.5, pytorch=9.0)
    axis = figure_step(*LSTM).axes[0]
    assert [line.get_xdata()[0] for line in axis.lines] == pytest.approx([2.5, 1.9])
    dashed = [bar for bar in axis.patches if bar.get_linestyle() == "--"]
    assert [bar.get_x() + bar.get_width() for bar in dashed] == pytest.approx([1.9])  # 2.5 is below 2.81
    assert axis.get_title().endswith("; diamonds: recorded")
    assert holds(finding(*LSTM), "H200", "CUDA", "2.5", "0.31", "grid", "1.9", "1.57")


def test_a_record_counts_for_its_own_size_precision_and_device_only(folder):
    keep(folder, persistent_grid=1.9)
    assert recorded("lstm", 512, "bfloat16", "H200") == {("persistent_grid", 4): pytest.approx(1.9)}
    others = ("gru", 512, "bfloat16", "H200"), ("lstm", 256, "bfloat16", "H200")
    others += ("lstm", 512, "float16", "H200"), ("lstm", 512, "bfloat16", "H100")
    assert not any(recorded(*other) for other in others)
    assert "No record" in finding("lstm", 512, 8, "bfloat16", "H200")


@pytest.mark.parametrize("gpu", [("NVIDIA GH200 480GB", 132), ("NVIDIA H200 MIG 1g.18gb", 16)])
def test_another_chip_or_a_slice_is_not_the_sheets(folder, gpu):
    keep(folder, gpu=gpu, persistent_grid=1.9)
    assert not recorded("lstm", 512, "bfloat16", "H200")


def test_other_suites_are_passed_over_and_the_newest_record_wins(folder):
    keep(folder, "2027-01-02T00:00:00", suite="peers", persistent_grid=7.0)
    keep(folder, "2027-01-03T00:00:00", persistent_grid=1.5)
    keep(folder, "2027-01-01T00:00:00", persistent_grid=1.9)
    assert recorded("lstm", 512, "bfloat16", "H200") == {("persistent_grid", 4): pytest.approx(1.5)}


def test_every_position_of_the_sliders_has_a_row_for_each_way(folder):
    sizes = step_view.HIDDEN, (1, 64), ("bfloat16", "tf32"), DEVICES
    for cell, task in product(step_view.CELLS, product(*sizes)):
        result = rows(cell, *task)
        assert [row.name for row in result] == list(step_view.KNOWN)
        assert all(bool(row.parts) != bool(row.why_not) for row in result)


def test_a_move_leaves_nothing_of_the_picture_before_it(folder):
    moved = step_view._draw(figure_step("gru", 768, 32, "float16", "H100"), *LSTM)
    assert png(moved) == png(figure_step(*LSTM))
    assert explore_step().still.alt == finding("lstm", 512, 8, "bfloat16", "H200")
