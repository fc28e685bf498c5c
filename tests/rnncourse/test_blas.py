"""The BLAS is judged by trying; here the rates are given, so that the judgement itself is what is tested."""

import json
import os
import subprocess
import sys

import pytest
from values_in import holds

from rnncourse.lab import blas
from rnncourse.lab.blas import Diagnosis, Trial
from rnnlab import resources

UNSET = (("OPENBLAS_CORETYPE", None),)
AS_IS, OLD, NEW = (
    Trial((), "SkylakeX", 2, 200.0),
    Trial((), "Prescott", 2, 50.0),
    Trial(UNSET, "SkylakeX", 2, 200.0),
)
PRESCOTT = {"OPENBLAS_CORETYPE": "Prescott"}
AVX512 = {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx2", "fma"}


@pytest.fixture(autouse=True)
def two_cores_with_avx512(monkeypatch):
    monkeypatch.setattr(resources, "usable_cores", lambda: 2)
    monkeypatch.setattr(resources, "processor_flags", lambda: AVX512)


def judged(environment, rates, **options):
    """The diagnosis where rates(core type asked for, threads asked for) gives (core, threads, GFLOP/s)."""

    def run(environment, change):
        after = blas.changed(environment, change)
        threads = next((after[name] for name in blas.THREADS if name in after), None)
        return Trial(change, *rates(after.get("OPENBLAS_CORETYPE"), threads))

    return blas.examine(environment, run=run, **options)


def test_a_variable_that_slows_products_down_is_blamed_by_name_with_the_command_that_mends_it():
    rates = lambda core, threads: ("Katmai", 2, 50.0) if core == "Prescott" else ("SkylakeX", 2, 200.0)
    diagnosis = judged(PRESCOTT, rates)
    values = "Katmai 2 50 GFLOP float32 OPENBLAS_CORETYPE=Prescott SkylakeX 2 200 GFLOP 4.0"
    assert holds(diagnosis.sentence(PRESCOTT), *values.split())
    assert diagnosis.remedy() == "unset OPENBLAS_CORETYPE"


def test_an_old_choice_without_any_variable_is_told_too():
    rates = lambda core, threads: (core or "Nehalem", 2, 200.0 if core == "SkylakeX" else 90.0)
    diagnosis = judged({}, rates)
    assert "because" not in diagnosis.sentence({})
    assert diagnosis.remedy() == "export OPENBLAS_CORETYPE=SkylakeX"


def test_too_few_threads_are_blamed_on_their_variable():
    rates = lambda core, threads: ("SkylakeX", int(threads or 2), 100.0 * int(threads or 2))
    one = {"OMP_NUM_THREADS": "1"}
    diagnosis = judged(one, rates)
    assert "on 1 thread, 100 GFLOP/s in float32 because OMP_NUM_THREADS=1 is set" in diagnosis.sentence(one)
    assert diagnosis.remedy() == "unset OMP_NUM_THREADS; export OPENBLAS_NUM_THREADS=2"
    assert judged(one, rates, keep_threads=True).remedy() is None


def test_more_threads_than_a_container_has_cores_are_told_though_nothing_is_set():
    rates = lambda core, threads: ("SkylakeX", int(threads or 64), 200.0 if threads else 20.0)
    for keep in (False, True):
        assert judged({}, rates, keep_threads=keep).remedy() == "export OPENBLAS_NUM_THREADS=2"


def test_a_core_type_and_threads_may_both_be_to_blame():
    both = PRESCOTT | {"OPENBLAS_NUM_THREADS": "1"}
    rates = lambda core, threads: (
        core or "SkylakeX",
        int(threads or 2),
        (1 + 2 * (core is None)) * int(threads or 2),
    )
    diagnosis = judged(both, rates)
    assert "because OPENBLAS_CORETYPE=Prescott and OPENBLAS_NUM_THREADS=1 are set" in diagnosis.sentence(both)
    assert diagnosis.remedy() == "unset OPENBLAS_CORETYPE; export OPENBLAS_NUM_THREADS=2"


def test_a_core_type_whose_instructions_are_missing_ends_the_process_and_is_blamed():
    rates = lambda core, threads: ("unknown", 0, 0.0) if core == "SapphireRapids" else ("Haswell", 2, 200.0)
    set_wrong = {"OPENBLAS_CORETYPE": "SapphireRapids"}
    diagnosis = judged(set_wrong, rates)
    assert holds(
        diagnosis.sentence(set_wrong), "OPENBLAS_CORETYPE=SapphireRapids", "Haswell", "2", "200", "GFLOP"
    )
    assert diagnosis.remedy() == "unset OPENBLAS_CORETYPE"


def test_where_nothing_runs_that_is_said_and_nothing_advised():
    diagnosis = judged({}, lambda core, threads: ("unknown", 0, 0.0))
    assert diagnosis.sentence({}) == "NumPy cannot multiply"
    assert diagnosis.remedy() is None


def test_a_difference_within_the_noise_is_no_finding():
    rates = lambda core, threads: (core or "SkylakeX", 2, 230.0 if core == "Haswell" else 200.0)
    diagnosis = judged({}, rates)
    assert diagnosis.remedy() is None
    assert holds(diagnosis.sentence({}), "1.2")


def test_a_variable_that_does_no_harm_is_named_all_the_same():
    size = {"OPENBLAS_L2_SIZE": "2048"}
    text = judged(size, lambda core, threads: (core or "SkylakeX", 2, 200.0)).sentence(size)
    assert "(OPENBLAS_L2_SIZE=2048 is set, without harm)" in text


def test_ratios_within_a_round_are_compared_so_that_a_slow_moment_of_the_machine_decides_nothing():
    load = (1.0, 0.2, 0.5)  # what other work leaves of the machine in each round
    rounds = [[Trial((), "Haswell", 2, 100.0 * k), Trial(UNSET, "SkylakeX", 2, 150.0 * k)] for k in load]
    assert blas.diagnose(rounds).gain == pytest.approx(1.5)
    lucky_once = [[AS_IS, Trial(UNSET, "Haswell", 2, rate)] for rate in (100.0, 900.0, 100.0)]
    assert blas.diagnose(lucky_once).remedy() is None


def test_of_two_choices_as_good_as_each_other_the_plainer_is_advised():
    named = Trial((("OPENBLAS_CORETYPE", "SkylakeX"),), "SkylakeX", 2, 205.0)
    assert blas.diagnose([[OLD, NEW, named]] * 3).best.change == UNSET


def test_naming_the_core_that_runs_anyway_is_never_the_remedy():
    same = Trial((("OPENBLAS_CORETYPE", "SkylakeX"),), "SkylakeX", 2, 300.0)
    assert blas.diagnose([[AS_IS, same]] * 3).remedy() is None


def test_candidates_take_turns():
    tried = []
    blas.examine(PRESCOTT, run=lambda environment, change: tried.append(change) or Trial(change, "x", 2, 1.0))
    once = [(), UNSET, (("OPENBLAS_CORETYPE", "SkylakeX"),), (("OPENBLAS_CORETYPE", "Haswell"),)]
    assert tried == [(), *once * blas.ROUNDS]


def test_only_core_types_this_processor_can_run_are_tried():
    names = lambda flags: [dict(c).get("OPENBLAS_CORETYPE") for c in blas.candidates({}, flags) if c]
    assert names(AVX512) == ["SkylakeX", "Haswell"]
    assert names({"avx2", "fma"}) == ["Haswell"]
    assert names(set()) == []


def test_a_core_type_is_never_tried_with_a_cache_size_meant_for_another():
    changes = blas.candidates({"OPENBLAS_L2_SIZE": "64"}, AVX512)
    assert changes[:2] == [(), (("OPENBLAS_L2_SIZE", None),)]
    assert all(dict(change)["OPENBLAS_L2_SIZE"] is None for change in changes[1:])


@pytest.fixture
def examined(monkeypatch):
    """The environments that were really examined; each time unsetting the core type was the cure."""
    environments = []

    def examine(environment, keep_threads):
        environments.append((dict(environment), keep_threads))
        return Diagnosis(OLD, NEW, 4.0)

    monkeypatch.setattr(blas, "examine", examine)
    return environments


def test_the_better_environment_is_remembered_until_something_changes(tmp_path, monkeypatch, examined):
    cache, set_wrong = tmp_path / "new" / "blas.json", PRESCOTT | {"HOME": "/x"}
    for _ in range(2):
        better, diagnosis = blas.better_environment(set_wrong, cache)
        assert better == {"HOME": "/x"}
        assert diagnosis == Diagnosis(OLD, NEW, 4.0)
    assert examined == [(set_wrong, True)]
    blas.better_environment({"OPENBLAS_CORETYPE": "Katmai"}, cache)
    assert len(examined) == 2
    monkeypatch.setattr(resources, "processor_flags", lambda: {"avx2", "fma"})
    blas.better_environment({"OPENBLAS_CORETYPE": "Katmai"}, cache)
    assert len(examined) == 3, "the same home on another computer: its choice might not even run here"


@pytest.mark.parametrize("content", ["", "{}", '{"key": 3}', "[]"])
def test_a_spoilt_memory_is_measured_anew(tmp_path, examined, content):
    cache = tmp_path / "blas.json"
    cache.write_text(content)
    assert blas.better_environment({"A": "1"}, cache)[0] == {"A": "1"}
    assert json.loads(cache.read_text())["now"]["core"] == "Prescott"


def test_a_memory_that_cannot_be_written_costs_a_measurement_and_no_more(tmp_path, examined, capsys):
    (tmp_path / "file").write_text("")
    assert blas.better_environment(PRESCOTT, tmp_path / "file" / "blas.json")[0] == {}
    assert "the next start measures again" in capsys.readouterr().err


def test_the_probe_really_starts_numpy_and_reports_its_core():
    trial = blas._in_a_fresh_process(os.environ, ())
    assert trial.gflops > 0
    assert trial.threads >= 1
    assert trial.core


def test_a_candidate_that_won_by_luck_must_win_again_alone():
    tried = []

    def run(environment, change):
        tried.append(change)
        core = dict(change).get("OPENBLAS_CORETYPE", "SkylakeX")
        return Trial(change, core, 2, 500.0 if core == "Haswell" and len(tried) <= 10 else 200.0)

    diagnosis = blas.examine({}, run=run)
    assert not diagnosis.mends
    assert {"Haswell", None} == {dict(change).get("OPENBLAS_CORETYPE") for change in tried[-4:]}


def test_a_process_that_cannot_start_has_no_rate(monkeypatch):
    monkeypatch.setattr(blas, "PROBE", "import os; os.kill(os.getpid(), 4)")  # as an illegal instruction does
    assert blas._in_a_fresh_process(os.environ, UNSET) == Trial(UNSET)


@pytest.mark.slow
def test_the_doctor_names_a_variable_that_is_set():
    """All of it in real processes with the real BLAS; whether it is slower is for the machine to say."""
    code = "import os; from rnncourse.lab import blas; print(blas.examine().sentence(os.environ))"
    env = {name: value for name, value in os.environ.items() if name not in blas.THREADS} | PRESCOTT
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert "OPENBLAS_CORETYPE=Prescott" in done.stdout
