"""Every attack gets what its file says, in both modes, and the next answer what it deserves.

A run tries a tenth of them; `make test-corpus` and `python tests/attacks_table.py --run` try all.
"""

import os
import re
import subprocess
import sys

import attacks_table
import psutil
import pytest
from attacks_table import (
    KILLED,
    MODES,
    attacks,
    page,
    perform,
    perform_apart,
    places,
    surround,
    surroundings,
)
from values_in import holds

from nbjudge.running.sandbox import CHECKOUT, choose
from nbjudge.verdict import Status

ATTACKS = {attack.name: attack for attack in attacks()}
PAGE = CHECKOUT / "docs" / "attacks.md"
WANTED = (  # what the course promises to have tried
    "redefines_check", "patches_numpy_comparisons", "patches_time", "searches_memory", "walks_the_stack",
    "reads_the_answer", "imports_the_reference", "writes_the_progress_file", "writes_the_report",
    "prints_a_report", "exits_politely", "exits_at_once", "kills_its_parent", "loops_for_ever",
    "sleeps_for_ever", "forks_without_end", "takes_all_memory", "prints_a_gigabyte", "opens_a_socket",
    "returns_a_lazy_array", "returns_a_lying_array", "returns_what_equals_everything", "returns_nan",
    "returns_infinity", "changes_its_input", "returns_the_last_answer_again", "writes_to_foreign_memory",
    "leaves_threads_running", "calls_itself_for_ever",
)  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "mode"), [(name, mode) for mode in MODES for name in ATTACKS])
def test_an_attack_gets_what_its_file_says_and_the_next_answer_what_it_deserves(name, mode):
    box = choose(plain=mode == "plain")
    if box.name != mode:
        pytest.skip(f"{box.why}: install bubblewrap (Debian: apt-get install bubblewrap)")
    assert perform_apart(ATTACKS[name], mode) == ATTACKS[name].outcomes[mode]
    with places() as known:
        honest = perform(ATTACKS["honest"], box, known)
        assert honest.status == Status.passed, honest.message


def test_each_file_of_the_course_that_an_attack_looks_for_is_there():
    """Else it fails for that reason, and would after the guard is gone."""
    sources = "".join(attack.source for attack in ATTACKS.values())
    wanted = set(re.findall('@CHECKOUT@/([^"]+)', sources))
    assert len(wanted) >= 3
    assert [path for path in wanted if not (CHECKOUT / path).exists()] == []


@pytest.mark.corpus
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "deed", "outcome"), surroundings())
def test_what_stands_around_a_notebook_has_the_outcome_that_its_table_says(name, deed, outcome, mode):
    if (box := choose(plain=mode == "plain")).name != mode:
        pytest.skip(f"{box.why}: install bubblewrap (Debian: apt-get install bubblewrap)")
    assert surround(name, mode) == outcome


def test_there_is_a_row_for_each_class_of_attack():
    assert len(ATTACKS) + len(surroundings()) >= 230
    assert all(deed.count("\n") == 0 and outcome for _, deed, outcome in surroundings())


def test_every_attack_that_the_course_promises_is_there():
    assert set(WANTED) <= ATTACKS.keys()


def test_an_outcome_is_a_status_and_one_that_is_not_withstood_says_why():
    for attack in ATTACKS.values():
        assert attack.deserves in [status.value for status in Status]
        assert attack.outcomes["plain"] in [KILLED, *(status.value for status in Status)]
        assert attack.withstood("bubblewrap"), f"{attack.name} is not withstood where classes are graded"
        assert attack.withstood("plain") or attack.why


def test_no_dishonest_answer_is_worth_points_under_bubblewrap():
    passed = {attack.name for attack in ATTACKS.values() if attack.outcomes["bubblewrap"] == Status.passed}
    assert all(attack.deserves == Status.passed for attack in ATTACKS.values() if attack.name in passed)


def test_the_published_table_is_this_one():
    assert PAGE.read_text(encoding="utf-8").rstrip() == page().rstrip()


KILLED_WHILE_IT_ENDS_PROCESSES = """#!/bin/sh
setsid sleep SECONDS >/dev/null 2>&1 &
until grep -q sleep /proc/$!/comm; do :; done
kill -STOP $!
kill -KILL $$
"""


def test_no_stopped_process_outlives_a_judge_that_was_killed(tmp_path, monkeypatch):
    judge = tmp_path / "python"
    seconds = str(10**6 + os.getpid())  # no other test process, or other user, has a sleep of this length
    judge.write_text(KILLED_WHILE_IT_ENDS_PROCESSES.replace("SECONDS", seconds))
    judge.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(judge))
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    assert perform_apart(ATTACKS["honest"], "plain") == KILLED
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before
    sleeping = [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", seconds]]
    assert not sleeping


def test_a_judge_that_hangs_is_ended_with_all_it_has_started(monkeypatch):
    def hang(command, **options):
        family.append(subprocess.Popen(["sleep", "1000"]))
        raise subprocess.TimeoutExpired(command, 60)

    family = []
    monkeypatch.setattr(subprocess, "run", hang)
    assert perform_apart(ATTACKS["honest"], "plain") == "hangs"
    assert not psutil.pid_exists(family[0].pid)
    family[0].wait()


def test_attacks_are_made_on_demand_and_held_against_their_files(monkeypatch, capsys):
    corpus = [attack for attack in attacks_table.attacks() if attack.name in ("honest", "returns_nan")]
    monkeypatch.setattr(attacks_table, "attacks", lambda: corpus)
    monkeypatch.setattr(attacks_table, "surroundings", list)
    assert attacks_table.run_all() == 0
    assert "✔ plain · returns nan · failed" in capsys.readouterr().out
    monkeypatch.setattr(attacks_table, "perform_apart", lambda attack, mode: "passed")
    assert attacks_table.run_all() == 1
    assert holds(capsys.readouterr().out, "plain", "nan", "passed", "failed")
