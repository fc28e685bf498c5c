"""The CMU workload: everybody computes the same epoch, and the table says what was measured."""

import importlib.util

import numpy as np
import pytest
from values_in import holds

from bench import cmu_tables, cmu_workload, halide_page
from bench.cmu import contestants, numpy_contestants
from bench.cmu import problem as cmu
from bench.cmu.contestants import CANDIDATES, EPOCHS
from bench.cmu.problem import Problem, Size
from bench.peers import Candidate
from rnncourse import cli, records
from rnncourse.records import cmu_picture, cmu_report

SMALL = Size(T=3, B=21, units=50)
INSTALLED = [
    candidate.name
    for candidate in CANDIDATES
    if not candidate.needs or importlib.util.find_spec(candidate.needs)
]
QUICK = "halide serial", "halide ours"  # of the schedules; each is compiled for seconds
WIDE_AWAKE = 0.9  # |h| of a saturated unit is above


@pytest.fixture(scope="module")
def problem():
    return cmu.draw(SMALL)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow)
        if name.startswith("halide") and name not in QUICK
        else name
        for name in INSTALLED
    ],
)
def test_every_contestant_computes_the_same_epoch(name, problem):
    step, arrays = contestants.build(problem, name)
    for _ in range(2):  # the second epoch finds what the first one left
        assert cmu.error(arrays(step()), numpy_contestants.exact(problem)) < 1


def test_the_exact_epoch_is_the_gradient_of_its_error(problem):
    exact = Problem(*(array.astype("float64") for array in problem))
    answer, direction = (
        numpy_contestants.exact(problem),
        np.random.default_rng(0).normal(size=problem.w_hh.shape),
    )
    for name, gradient in [("w_xh", answer.d_xh), ("w_hh", answer.d_hh), ("w_hy", answer.d_hy)]:
        loss = lambda step, name=name: (
            contestants.build(
                exact._replace(**{name: getattr(exact, name) + step * direction}), "numpy theirs"
            )[0]().loss
        )
        numeric = (loss(1e-5) - loss(-1e-5)) / 2e-5
        assert numeric == pytest.approx(np.vdot(gradient, direction), rel=1e-6)


def test_the_pictures_are_the_projects_shape_and_turn_by_a_step():
    small = cmu.draw(Size(T=3, B=5))
    assert small.x.shape == small.target.shape == (3, 5, 1000)
    assert np.array_equal(small.x[1:], small.target[:-1])
    assert -0.5 <= small.x.min() < small.x.max() <= 0.5
    assert Size().flops == 160e9


def test_no_unit_is_saturated_by_the_weights_drawn(problem):
    h = np.tanh(problem.x[0] @ problem.w_xh)
    assert 0.02 < np.abs(h).mean() < WIDE_AWAKE


@pytest.mark.parametrize(
    ("size", "message"), [(Size(B=1798), "only 1797 digits"), (Size(units=1025), "only 1024 pixels")]
)
def test_a_workload_that_the_pictures_do_not_fill_is_refused(size, message):
    with pytest.raises(ValueError, match=message):
        cmu.draw(size)


@pytest.fixture(scope="module")
def record():
    """A record of two contestants, and one whose times were written by hand."""
    task = [candidate for candidate in CANDIDATES if candidate.name in ("numpy theirs", "numpy batched")]
    result = cmu_workload.measure(SMALL, task, rounds=3, threads=1)
    settings = {**SMALL._asdict(), "rounds": 3, "threads": 1}
    record = cmu_workload.provenance(cmu_workload.KIND, cmu_workload.MEASURED, settings)
    record |= cmu_workload.asdict(result) | {"complete": True}
    record["seconds"]["halide serial"], record["first"]["halide serial"] = [9.0], 10.0
    return record


def test_contestants_in_their_processes_are_right_and_timed_each_round(record):
    assert record["left_out"] == {}
    assert [len(record["seconds"][name]) for name in ("numpy theirs", "numpy batched")] == [3, 3]
    assert all(0 <= error < 1 for error in record["error"].values())


def test_contestants_that_die_at_any_stage_are_left_out_of_the_table():
    dying = [f"SIGILL_when_{stage}" for stage in ("introduced", "prepared", "measured")]
    right = next(candidate for candidate in CANDIDATES if candidate.name == "numpy batched")
    task = [*(Candidate(name, "tests.cheating_peers.dying") for name in dying), right]
    result = cmu_workload.measure(SMALL, task, rounds=3, threads=1)
    assert {name: "SIGILL" in why for name, why in result.left_out.items()} == dict.fromkeys(dying, True)
    assert [*result.seconds] == [right.name]


def test_the_table_tells_what_was_timed_once_and_what_was_published(record):
    output = cmu_tables.page(record)
    assert holds(output, "21", "3", "50-50-50")
    assert "timed once, being slow: halide serial" in output
    slowest = cmu_tables.rows(record)[0]
    assert slowest[0], slowest[-1] == ("halide serial", "143.5")
    assert cmu_tables.over_theirs(record, "numpy theirs") == 1
    assert len(cmu_tables.markdown(record).splitlines()) == 2 + 3


def test_the_record_is_kept_and_read_again(record, tmp_path):
    path = records.place(record, tmp_path)
    records.write(path, record)
    assert path.name.startswith("bench_cmu_")
    assert records.read(path)["seconds"] == record["seconds"]


def test_the_picture_says_in_words_what_it_shows(record):
    figure = cmu_picture.draw(record)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[0] == "halide serial  9 s"
    assert holds(cmu_picture.finding(record), "9", "serial")
    whole = cmu_picture.draw(record | {"settings": record["settings"] | Size()._asdict()})
    (marks,) = whole.axes[0].get_lines()  # at what was published, which is of the whole epoch only
    assert [*marks.get_xdata()] == [143.5, 0.95]
    assert not figure.axes[0].get_lines()


def test_a_contestant_that_is_none_is_named_with_those_there_are(capsys):
    assert cli.main(["bench", "cmu", "--only", "fortran"]) == 2
    assert holds(capsys.readouterr().err, "'fortran'", "halide")


def test_every_published_figure_belongs_to_a_contestant():
    assert {*cmu_report.PUBLISHED} <= {*EPOCHS}


def test_the_page_about_halide_and_its_picture_are_of_the_latest_record():
    text = halide_page.PAGE.read_text(encoding="utf-8")
    assert halide_page.page(text) == text, "run python -m bench.halide_page"
    if results := halide_page.latest():
        assert results[1]["digest"].encode() in halide_page.PICTURE.read_bytes()
