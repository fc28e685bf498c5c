"""Tables, means, targets and pictures follow from the seconds of a record, and from nothing else."""

import pytest
from values_in import holds

from bench import cpu_bounds, cpu_targets, performance_page, step_report
from bench import cpu_tables as cpu_report
from bench.peers import blas_products
from rnncourse import records
from rnncourse.figures.picture import png
from rnncourse.records import cpu_picture
from rnncourse.records.workload import CELLS, SHAPES, Workload

STEP = {"slow": 4.0, "fast": 1.0, "pytorch": 2.0, "pytensor": 8.0, "jax": 1.5, "gemm_step": 0.5}


def case(cell, shape, seconds):
    """A case in which each contestant's three rounds lie 10 % around its seconds."""
    workload = Workload(cell, *shape)
    rounds = {name: [0.9 * s, s, 1.1 * s] for name, s in seconds.items()}
    return {
        "workload": workload._asdict(),
        "flops": workload.flops(),
        "large_flops": blas_products.LARGE_FLOPS,
        "seconds": rounds | {"gemm_large": [blas_products.LARGE_FLOPS / 100e9] * 3},
        "memory": {"slow": 100, "fast": 300, "pytorch": 200},
        "first_step": {"fast": 12.5, "gemm_large": 99.0},
        "left_out": {},
        "other_load": 0.01,
    }


def record(cases, loads=0.01):
    """A record of two rungs and all peers."""
    names = ("gemm_large", *STEP)
    for entry in cases:
        entry["other_load"] = loads
    return {
        "kind": "bench cpu",
        "complete": True,
        "date": "2026-01-02T03:04:05+00:00",
        "commit": "a" * 40,
        "changed": [],
        "code": "f" * 64,
        "machine": {"processor": "P", "cores": 2, "system": "S"},
        "settings": {"threads": 2, "rounds": 3},
        "contestants": {name: {"is_rung": name in ("slow", "fast"), "blas": {}} for name in names},
        "missing": [],
        "cases": cases,
    }


@pytest.fixture
def full():
    """Every cell at every shape, all alike."""
    return record([case(cell, shape, STEP) for cell in CELLS for shape in SHAPES])


def test_the_best_rung_is_the_fastest_and_peers_are_no_rungs(full):
    one = full["cases"][0]
    assert cpu_report.best_rung(full, one) == "fast"
    assert cpu_report.speed_over(full, one, "pytorch") == 2.0
    assert cpu_report.speed_over(full, one, "jax") == 1.5
    assert cpu_report.spread(one, "fast") == pytest.approx(0.1)


def test_a_rung_of_narrower_numbers_has_targets_of_its_own(full):
    for entry in full["cases"]:
        entry["seconds"]["packed_bfloat16"] = [0.25, 0.25, 0.3]
        entry["memory"] |= {"packed_bfloat16": 50, "packed_weights": 100}
    full["contestants"]["packed_bfloat16"] = {"is_rung": True, "precision": "bfloat16"}
    steps = {"inference": 6.0, "inference_bfloat16": 3.0, "inference_int8": 1.5}
    full["steps"] = {"cases": [case("gru", (1, 1, H, H), steps) for H in (256, 1024)]}
    assert cpu_report.best_rung(full, full["cases"][0]) == "fast"
    assert cpu_targets.gain_of_16_bits(full) == 4
    assert cpu_targets.bytes_of_16_bits(full) == 0.5
    assert cpu_targets.gain_of_weights("int8", 1024)(full) == 4
    assert cpu_targets.gain_of_weights("bfloat16", 2048)(full) is None


def test_halide_is_a_peer_also_in_records_in_which_it_was_a_rung():
    older = record([case("gru", SHAPES[0], {"halide": 0.5, "slow": 4.0, "fast": 1.0})])
    older["contestants"] = {"halide": {"is_rung": True}} | older["contestants"]
    assert cpu_report.best_rung(older, older["cases"][0]) == "fast"
    assert [row[0] for row in cpu_report.rows(older, "gru")][2:5] == ["slow", "fast", "halide"]


def test_rates_count_the_steps_products_and_the_large_one_its_own(full):
    one = full["cases"][3]
    assert cpu_report.gflops(one, "gemm_large") == pytest.approx(100)
    assert cpu_report.gflops(one, "fast") == pytest.approx(one["flops"] / 1e9)
    assert cpu_report.part_of_gemm(full, one) == pytest.approx(one["flops"] / 100e9)
    assert cpu_report.part_of_gemm(full, one, "gemm_step") == pytest.approx(0.5)


def test_means_are_geometric_and_leave_out_what_was_not_measured():
    cases = [
        case("gru", SHAPES[0], STEP),
        case("gru", SHAPES[1], STEP | {"fast": 0.25}),
        case("lstm", SHAPES[1], {"fast": 1.0}),
    ]
    mixed = record(cases)
    assert cpu_report.mean_speed_over(mixed, "pytorch", "gru") == pytest.approx((2 * 8) ** 0.5)
    assert cpu_report.mean_speed_over(mixed, "pytorch") == pytest.approx((2 * 8) ** 0.5)
    assert cpu_report.mean_speed_over(mixed, "pytorch", "lstm") is None
    assert cpu_report.geometric_mean([]) is None


def test_the_table_has_a_row_for_each_contestant_and_marks_the_best(full):
    table = cpu_report.text(full, "gru").splitlines()
    assert table[1].split() == ["T×B", *(f"{T}×{B}" for T, B, _, _ in SHAPES)]
    rows = {line.split("  ")[0]: line for line in table}
    assert "*1000 ±10 %" in rows["fast"]
    assert "*" not in rows["slow"]
    assert rows["best rung over PyTorch"].split()[4:] == ["2.00×"] * 7
    assert rows["memory over PyTorch's"].split()[3:] == ["1.50×"] * 7
    assert len({len(line) for line in table[1:]}) == 1


def test_who_was_left_out_at_one_size_has_a_dash_there():
    table = cpu_report.text(
        record([case("gru", SHAPES[0], STEP), case("gru", SHAPES[1], {"fast": 1.0})]), "gru"
    )
    row = next(line for line in table.splitlines() if line.startswith("jax"))
    assert row.split()[-1] == "–"


@pytest.mark.parametrize(
    ("seconds", "output"), [(1e-6, "0.00100"), (1.2344e-3, "1.23"), (0.0567, "56.7"), (1.9, "1900")]
)
def test_times_have_three_digits_and_no_exponent(seconds, output):
    table = cpu_report.rows(record([case("gru", SHAPES[0], STEP | {"jax": seconds})]), "gru")
    assert next(row for row in table if row[0] == "jax")[1].split()[0] == output


def test_a_busy_machine_is_told_in_the_heading(full):
    assert "other programs" not in cpu_report.heading(full)
    loud = record(full["cases"], loads=0.4)
    assert holds(cpu_report.heading(loud), "40")


def test_who_is_missing_is_told_with_the_reason_once(full):
    assert cpu_report.absent(full) == []
    full["missing"] = ["jax"]
    for entry in full["cases"][:3]:
        entry["left_out"] = {"slow": "wrong numbers: 3.0e+00 times the error that is tolerated"}
    not_there, wrong = cpu_report.absent(full)
    assert holds(not_there, "jax")
    assert holds(wrong, "3", "3.0e+00")
    assert cpu_report.page(full).endswith(wrong)


def test_first_calls_are_told_apart_and_limits_make_none(full):
    assert holds(cpu_report.first_calls(full), "12.5")


def test_targets_say_met_or_by_how_much_missed_for_each_record(full):
    busy = record([case(cell, shape, STEP | {"fast": 1.9}) for cell in CELLS for shape in SHAPES])
    rows = {row[0]: row[1:] for row in (target.row([full, busy]) for target in cpu_targets.TARGETS)}
    assert rows["gru over PyTorch, at every shape"] == ["≥ 1.2", "2.00, met", "1.05, missed: 88 % of it"]
    assert rows["memory of a step over PyTorch's, at every shape"][:2] == ["≤ 1", "1.50, missed: 67 % of it"]
    assert rows["over JAX, at every shape"] == ["≥ 1", "1.50, met", "0.79, missed: 79 % of it"]
    assert rows["one step at B = 1 over PyTorch and JAX"] == ["≥ 1.5", "not measured", "not measured"]
    assert "| rnn_tanh, 100×16, 64×128 | " in cpu_targets.required_rates(full)
    assert "| reached | masked |" in cpu_targets.table({"reached": full, "masked": busy})


def test_the_part_of_the_large_product_is_the_least_of_wide_steps(full):
    rates = [cpu_report.part_of_gemm(full, case) for case in full["cases"]]
    wide = [
        rate
        for rate, case in zip(rates, full["cases"], strict=True)
        if case["workload"]["B"] >= 32 and case["workload"]["H"] >= 256
    ]
    assert cpu_targets.part_of_gemm(full) == min(wide) > min(rates)


def test_every_missed_target_has_its_bound_in_counts(full):
    for entry in full["cases"]:
        entry["seconds"]["pytorch"] = [1.1] * 3  # beside 1.0: 1.1 times its rate, below every target
    paragraphs = cpu_bounds.missed(full).splitlines()
    assert len([line for line in paragraphs if "times PyTorch's rate" in line]) == len(full["cases"])
    (memory,) = (line for line in paragraphs if "Memory" in line)
    assert "1.50 times PyTorch's" in memory


def test_a_missed_step_is_told_beside_what_reading_its_weights_takes(full):
    seconds = {"weights": 2e-6, "inference": 5e-6, "pytorch_cell": 6e-6, "jax": 9e-6}
    full["steps"] = record([case("gru", (1, 1, 64, 64), seconds), case("gru", (1, 1, 256, 256), seconds)])
    (step,) = (line for line in cpu_bounds.missed(full).splitlines() if "One step" in line)
    # 6 / 5; 6 / 1.5 is 4 µs, twice the reading; 5 / 2; 5 − 2 µs beside the reading, which leaves 0.3 · 2
    assert holds(step, "64", "1.20", "4.0", "2.00", "2.50", "3.0", "0.6")
    values = {target.sentence: target.value(full) for target in cpu_targets.TARGETS}
    assert values["one step at B = 1 over PyTorch and JAX"] == pytest.approx(1.2)
    assert values["one step at B = 1, time over reading the weights once"] == pytest.approx(2.5)


def test_a_narrow_step_that_gains_too_little_is_told_beside_reading_its_weights(full):
    seconds = {"inference": 90e-6, "inference_int8": 60e-6, "weights_int8": 50e-6, "onnxruntime_int8": 90e-6}
    full["steps"] = record([case("gru", (1, 1, 1024, 1024), seconds)])
    lines = [line for line in cpu_bounds.missed(full).splitlines() if "int8 weights" in line]
    # 90 / 60, to be 2 and 3; 3 · 1024 · 2048 bytes in 50 µs; 60 - 50 µs beside them
    assert len(lines) == 2
    for line, needed in zip(lines, ("45.0", "30.0"), strict=True):
        assert holds(line, "1.50", needed, "50.0", "6.3", "126", "10.0")


def test_a_step_in_16_bits_that_gains_too_little_is_told_beside_its_products(full):
    entry = next(entry for entry in full["cases"] if cpu_bounds.shape(entry) in cpu_targets.WIDE_STEPS)
    entry["seconds"] |= {"packed_bfloat16": [0.8] * 3, "pytorch_autocast": [1.0] * 3}
    full["contestants"]["packed_bfloat16"] = {"is_rung": True, "precision": "bfloat16"}
    full["contestants"]["pytorch_autocast"] = {"is_rung": False, "precision": "bfloat16"}
    entry["seconds"]["gemm_large"] = [0.5 * entry["large_flops"] / entry["flops"]] * 3
    (line,) = (line for line in cpu_bounds.missed(full).splitlines() if "in 16 bits" in line)
    whole = 0.8 * cpu_targets.narrow_over_float32(full, entry)
    assert holds(line, "500.0", f"{1e3 * whole:.1f}", f"{1e3 * whole - 250:.1f}", "800.0")


def test_bytes_of_a_step_in_16_bits_are_told_beside_those_that_it_must_have(full):
    (entry,) = cpu_targets._cases(full, [(50, 64, 512, 512)], ["gru"])
    entry["memory"] = {"packed_weights": 50_000_000, "packed_bfloat16": 35_000_000}
    assert cpu_targets.bytes_of_16_bits(full) == pytest.approx(0.7)
    (line,) = (line for line in cpu_bounds.missed(full).splitlines() if "Bytes of" in line)
    # y, dx 2 · 50 · 64 · 512 and gradients 3 · 512 · 1026 of 4 bytes; 4 numbers a unit, 3 · 512² weights of 2
    assert holds(line, "0.70", "50.0", "30.0", "19.4", "0.39", "13.1", "1.6", "0.68")
    entry["memory"]["packed_bfloat16"] = 30_000_000
    assert "Bytes of" not in cpu_bounds.missed(full)


def test_a_small_lstm_has_a_target_of_its_own(full):
    (small,) = cpu_targets._cases(full, [cpu_targets.SMALL], ["lstm"])
    ours = cpu_report.median(small, cpu_report.best_rung(full, small))
    small["seconds"]["pytorch"] = [1.17 * ours] * 3
    (line,) = (line for line in cpu_bounds.missed(full).splitlines() if "times PyTorch's rate" in line)
    assert "lstm 100×16" in line


def test_bounds_count_bytes_as_they_are_counted_by_hand():
    rnn, lstm = Workload("rnn_tanh", 100, 64, 256, 256), Workload("lstm", 20, 64, 1024, 512)
    assert cpu_bounds.bytes_passed(rnn) == 4 * 6400 * 7 * 256  # x, x, dx, h, h, h, dy
    assert cpu_bounds.bytes_passed(lstm) == 4 * 1280 * (3 * 1024 + (4 + 2 * 5) * 512)


def test_a_record_that_meets_its_targets_has_nothing_to_explain(full):
    for entry in full["cases"]:
        entry["memory"] = {}
        entry["seconds"]["fast"] = entry["seconds"]["gemm_large"] = [1e-9] * 3
    assert cpu_bounds.missed(full) == cpu_bounds.NONE_MISSED


def test_a_target_whose_shape_was_not_measured_is_not_met():
    few = record([case("rnn_tanh", SHAPES[0], STEP)])
    rows = {row[0]: row[1:] for row in (target.row([few]) for target in cpu_targets.TARGETS)}
    assert rows["rnn_tanh over PyTorch, at every shape"] == ["≥ 1.2", "not measured"]
    assert rows["part of the large GEMM's rate, H ≥ 256, B ≥ 32"] == ["≥ 0.85", "not measured"]


def test_a_target_of_a_rung_that_a_machine_cannot_run_is_not_merely_unmeasured(full):
    for entry in full["cases"]:
        entry["left_out"] = {"packed_bfloat16": "no such instruction"}
    rows = {row[0]: row[2] for row in (target.row([full]) for target in cpu_targets.TARGETS)}
    assert [sentence for sentence, cell in rows.items() if cell == cpu_targets.LEFT_OUT] == [
        target.sentence for target in cpu_targets.TARGETS if target.contestant
    ]
    text = performance_page.measured(performance_page.ROOT / "r.json", full)
    assert "no such instruction" in text


def test_the_picture_states_its_finding_and_can_be_drawn_with_gaps(full):
    full["cases"][0]["seconds"].pop("pytorch")
    full["cases"][8]["seconds"] = {"gemm_large": full["cases"][8]["seconds"]["gemm_large"]}
    assert holds(cpu_picture.finding(full), "2", "rnn_tanh", "2", "2", "PyTorch")
    assert png(cpu_picture.draw(full)).startswith(b"\x89PNG")


def test_sizes_that_differ_in_their_steps_alone_have_two_names():
    cases = [case("rnn_tanh", (steps, 1, 64, 64, 1), STEP) for steps in (100, 1024)]
    figure = cpu_picture.draw(record(cases))
    names = [label.get_text() for label in figure.axes[1].get_xticklabels()]
    assert names == ["1 × 64", "1 × 64, T = 1024"]


def test_the_page_takes_the_latest_full_record_and_keeps_its_prose(full, monkeypatch, tmp_path):
    monkeypatch.setattr(records, "MEASURED", tmp_path)
    monkeypatch.setattr(performance_page, "ROOT", tmp_path)
    text = f"before\n{performance_page.BEGIN}yesterday\n{performance_page.END}after\n"
    assert performance_page.NO_RECORD in performance_page.page(text)
    records.write(records.place(full), full)
    partly = record(full["cases"][:2]) | {"date": "2026-03-01T00:00:00+00:00"}
    records.write(records.place(partly), partly)
    output = performance_page.page(text)
    assert output.startswith("before\n")
    assert output.endswith("after\n")
    assert "yesterday" not in output
    assert "bench_cpu_2026-01-02T0304_p.json" in output
    assert performance_page.page(output) == output


def test_refreshing_writes_page_and_a_picture_that_names_its_record(full, monkeypatch, tmp_path):
    monkeypatch.setattr(records, "MEASURED", tmp_path)
    monkeypatch.setattr(performance_page, "ROOT", tmp_path)
    for name in ("PAGE", "PICTURE"):
        monkeypatch.setattr(performance_page, name, tmp_path / f"{name.lower()}.png")
    performance_page.PAGE.write_text(f"{performance_page.BEGIN}{performance_page.END}")
    records.write(records.place(full), full)
    performance_page.refresh()
    assert "### lstm" in performance_page.PAGE.read_text(encoding="utf-8")
    digest = records.read(records.place(full))["digest"]
    assert digest.encode() in performance_page.PICTURE.read_bytes()


def test_the_page_and_its_picture_are_of_the_latest_record():
    text = performance_page.PAGE.read_text(encoding="utf-8")
    assert performance_page.page(text) == text, "run python -m bench.performance_page"
    if result := performance_page.latest():
        assert result[1]["digest"].encode() in performance_page.PICTURE.read_bytes()


def test_a_record_that_emulates_another_machine_stands_beside_the_page_s_own(full, monkeypatch):
    masked = full | {"settings": full["settings"] | {"emulates": "avx2"}}
    paths = {
        performance_page.ROOT / "own.json": full,  # the older one
        performance_page.ROOT / "masked.json": masked,
    }
    monkeypatch.setattr(performance_page.records, "stored", lambda kind: [*paths])
    monkeypatch.setattr(performance_page.records, "read", paths.get)
    assert performance_page.latest() == (performance_page.ROOT / "own.json", full)
    assert performance_page.latest("avx2") == (performance_page.ROOT / "masked.json", masked)
    text = performance_page.measured(performance_page.ROOT / "own.json", full)
    own, beside = text.split("### AVX-512 masked")
    assert cpu_report.markdown(full, "gru") in own
    assert cpu_report.markdown(full, "gru") in beside
    assert "avx2" in beside.splitlines()[2]
    assert "avx2" not in own


def test_a_scan_is_compared_with_the_loop_for_each_number_of_units(full):
    assert step_report.scans(full) == []
    times = {"one_big_gemm": 8e-3, "parallel_in_time": 2e-3}
    cases = [case("min_gru", (T, 1, H, H), times) for H in (16, 64) for T in (100, 1000)]
    full["scans"] = record(cases, loads=0.5)
    full["scans"]["contestants"] = {name: {} for name in times}
    assert step_report.speed_of_scan(full["scans"]["cases"][0]) == pytest.approx(4)
    narrow, wide = step_report.scans(full)
    assert "| 1,000 |" in narrow
    assert "| 4.00× |" in wide
    assert "50 %" in cpu_report.heading(full)
    assert wide in performance_page.measured(performance_page.ROOT / "r.json", full)


def test_a_step_is_compared_with_the_best_of_pytorch_and_with_its_weights(full):
    assert step_report.steps(full) == []
    section = {"weights": 2e-6, "inference": 3e-6, "pytorch_module": 9e-6, "pytorch_cell": 6e-6}
    full["steps"] = record([case("lstm", (1, 1, 64, 64), section)], loads=0.5)
    full["steps"]["contestants"] = {name: {} for name in section}
    (one,) = full["steps"]["cases"]
    assert step_report.step_speed(one, *step_report.TORCH_STEPS) == pytest.approx(2)
    assert step_report.step_speed(one, "jax") is None
    assert step_report.step_over_weights(one) == pytest.approx(1.5)
    (table,) = step_report.steps(full)
    assert "| 2.00× |" in table
    assert "| 1.50× |" in table
    assert "50 %" in cpu_report.heading(full)  # other programs beside the steps are told, too
    assert table in performance_page.measured(performance_page.ROOT / "r.json", full)
