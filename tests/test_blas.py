"""The BLAS is judged by trying; here the rates are given, so that the judgement itself is what is tested."""

import json
import os
import subprocess
import sys

import pytest

from rnnlab.machine import blas
from rnnlab.machine.blas import Diagnosis, Trial

AS_IS, OLD = Trial((), "SkylakeX", 200.0), Trial((), "Prescott", 50.0)
UNSET = (("OPENBLAS_CORETYPE", None),)
AVX512 = {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx2", "fma"}


def test_a_variable_that_halves_the_speed_is_blamed_by_name_with_the_command_that_mends_it():
    diagnosis = Diagnosis(OLD, Trial(UNSET, "SkylakeX", 200.0))
    said = diagnosis.sentence({"OPENBLAS_CORETYPE": "Prescott"})
    assert said == (
        "Prescott kernels, 50 GFLOP/s in float32 because OPENBLAS_CORETYPE=Prescott is set; "
        "SkylakeX kernels reach 200, 4.0 times as many"
    )
    assert diagnosis.remedy().startswith("unset OPENBLAS_CORETYPE ")


def test_an_old_choice_without_any_variable_is_told_too():
    diagnosis = Diagnosis(OLD, Trial((("OPENBLAS_CORETYPE", "SkylakeX"),), "SkylakeX", 200.0))
    assert "because" not in diagnosis.sentence({})
    assert diagnosis.remedy().startswith("export OPENBLAS_CORETYPE=SkylakeX ")


def test_a_difference_within_the_noise_is_no_finding():
    diagnosis = Diagnosis(AS_IS, Trial(UNSET, "Haswell", 230.0))
    assert diagnosis.remedy() is None
    assert "no other choice tried is 1.2 times faster" in diagnosis.sentence({})


def test_medians_are_compared_so_that_one_lucky_run_decides_nothing():
    slow_but_once = [Trial(UNSET, "Haswell", rate) for rate in (100.0, 900.0, 100.0)]
    steady = [Trial((), "SkylakeX", rate) for rate in (200.0, 190.0, 210.0)]
    turns = [trial for pair in zip(steady, slow_but_once, strict=True) for trial in pair]
    diagnosis = blas.diagnose(turns)
    assert (diagnosis.now.gflops, diagnosis.best.gflops) == (200.0, 200.0)


def test_naming_the_core_that_runs_anyway_is_never_the_remedy():
    same = Trial((("OPENBLAS_CORETYPE", "SkylakeX"),), "SkylakeX", 300.0)
    assert blas.diagnose([AS_IS, same]).remedy() is None


def test_candidates_take_turns_and_one_that_cannot_start_is_left_out():
    tried = []

    def try_one(environment, change):
        tried.append(change)
        return None if change == UNSET else Trial(change, "Prescott", 50.0)

    blas.examine({"OPENBLAS_CORETYPE": "Prescott"}, try_one)
    once = len(tried) // blas.ROUNDS
    assert tried == tried[:once] * blas.ROUNDS
    assert tried[0] == ()


def test_only_core_types_this_processor_can_run_are_tried():
    names = lambda flags: [dict(c).get("OPENBLAS_CORETYPE") for c in blas.candidates({}, flags) if c]
    assert names(AVX512) == ["SkylakeX", "Haswell"]
    assert names({"avx2", "fma"}) == ["Haswell"]
    assert names(set()) == []


def test_what_is_set_is_tried_unset_and_a_core_type_does_not_keep_a_wrong_cache_size():
    changes = blas.candidates({"OPENBLAS_L2_SIZE": "64"}, AVX512)
    assert changes[:2] == [(), (("OPENBLAS_L2_SIZE", None),)]
    assert all(dict(change)["OPENBLAS_L2_SIZE"] is None for change in changes[1:])


def test_the_better_environment_is_remembered_until_a_variable_changes(tmp_path, monkeypatch):
    examined = []

    def examine(environment):
        examined.append(dict(environment))
        return Diagnosis(OLD, Trial(UNSET, "SkylakeX", 200.0))

    monkeypatch.setattr(blas, "examine", examine)
    cache, set_wrong = tmp_path / "new" / "blas.json", {"OPENBLAS_CORETYPE": "Prescott", "HOME": "/x"}
    for _ in range(2):
        better, diagnosis = blas.better_environment(set_wrong, cache)
        assert better == {"HOME": "/x"}
        assert diagnosis.gain == 4.0
    assert len(examined) == 1
    blas.better_environment({"OPENBLAS_CORETYPE": "Katmai"}, cache)
    assert len(examined) == 2


@pytest.mark.parametrize("content", ["", "{}", '{"key": 3}', "[]"])
def test_a_spoilt_memory_is_measured_anew(tmp_path, monkeypatch, content):
    monkeypatch.setattr(blas, "examine", lambda environment: Diagnosis(AS_IS, AS_IS))
    cache = tmp_path / "blas.json"
    cache.write_text(content)
    assert blas.better_environment({"A": "1"}, cache)[0] == {"A": "1"}
    assert json.loads(cache.read_text())["now"]["core"] == "SkylakeX"


def test_the_probe_really_starts_numpy_and_reports_its_core():
    trial = blas._try(os.environ, ())
    assert trial.gflops > 0
    assert trial.core != "unknown"


def test_the_doctor_names_a_variable_that_is_set(tmp_path):
    """In a real process with a real OpenBLAS; whether it is slower is for the machine to say."""
    code = (
        "import os; from rnnlab.machine.blas import Diagnosis, _try; t = _try(os.environ, ()); print(t.core)"
    )
    env = os.environ | {"OPENBLAS_CORETYPE": "Prescott"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    plain = blas._try({k: v for k, v in os.environ.items() if k not in blas.VARIABLES}, ())
    if plain.core in ("SkylakeX", "Haswell", "Zen", "SapphireRapids", "Cooperlake"):
        assert done.stdout.strip() != plain.core
