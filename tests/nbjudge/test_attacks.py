"""Every attack gets what its file says, and the next answer what it deserves.

A run tries a tenth of them; `make test-corpus` and `python tests/attacks_table.py --run` try all.
"""

import dataclasses
import faulthandler
import re

import attacks_table
import pytest
from attacks_table import HANGS, PAGE, attacks, page, perform, places, surround, surroundings
from values_in import holds

from nbjudge.running.sandbox import CHECKOUT, choose
from nbjudge.verdict import Status

ATTACKS = {attack.name: attack for attack in attacks()}
PROMISED_IN_PLAIN_MODE = (
    "loops_for_ever_and_ignores_signals", "loops_while_it_is_loaded", "takes_all_memory",
    "takes_memory_in_many_processes", "stops_itself_through_ctypes",
)  # fmt: skip
WANTED = (  # what the course promises to have tried
    "redefines_check", "patches_numpy_comparisons", "patches_time", "searches_memory", "walks_the_stack",
    "reads_the_answer", "imports_the_reference", "writes_the_progress_file", "writes_the_report",
    "prints_a_report", "exits_politely", "exits_at_once", "kills_its_parent", "loops_for_ever",
    "sleeps_for_ever", "forks_without_end", "takes_all_memory", "prints_a_gigabyte", "opens_a_socket",
    "returns_a_lazy_array", "returns_a_lying_array", "returns_what_equals_everything", "returns_nan",
    "returns_infinity", "changes_its_input", "returns_the_last_answer_again", "writes_to_foreign_memory",
    "leaves_threads_running", "calls_itself_for_ever",
)  # fmt: skip


@pytest.fixture(autouse=True)
def limited():
    """An attack that makes its judge hang ends the test process, with a traceback."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def wall():
    """The sandbox in which classes are graded."""
    if (box := choose()).name == "plain":
        pytest.skip(f"{box.why}: install bubblewrap (Debian: apt-get install bubblewrap)")
    return box


@pytest.mark.corpus
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_what_its_file_says_and_the_next_answer_what_it_deserves(name, wall):
    with places() as known:
        assert perform(ATTACKS[name], wall, known).status == ATTACKS[name].deserves
        honest = perform(ATTACKS["honest"], wall, known)
    assert honest.status == Status.passed, honest.message


@pytest.mark.parametrize("name", PROMISED_IN_PLAIN_MODE)
@pytest.mark.slow
def test_plain_mode_limits_time_and_memory(name):
    with places() as known:
        assert perform(ATTACKS[name], choose(plain=True), known).status == ATTACKS[name].deserves


def test_each_file_of_the_course_that_an_attack_looks_for_is_there():
    """Else it fails for that reason, and would after the guard is gone."""
    sources = "".join(attack.source for attack in ATTACKS.values())
    wanted = set(re.findall('@CHECKOUT@/([^"]+)', sources))
    assert len(wanted) >= 2
    assert [path for path in wanted if not (CHECKOUT / path).exists()] == []


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "deed", "outcome"), surroundings())
def test_what_stands_around_a_notebook_has_the_outcome_that_its_table_says(name, deed, outcome):
    assert surround(name) == outcome


def test_there_is_a_row_for_each_class_of_attack():
    assert len(ATTACKS) + len(surroundings()) >= 230
    assert all(deed.count("\n") == 0 and outcome for _, deed, outcome in surroundings())


def test_every_attack_that_the_course_promises_is_there():
    assert set(WANTED) <= ATTACKS.keys()


def test_no_dishonest_attack_deserves_points():
    assert {attack.deserves for attack in ATTACKS.values()} <= {status.value for status in Status}
    honest = re.compile(r"No attack|\bis right\b|Is right|Adds up", re.I)
    passing = [attack for attack in ATTACKS.values() if attack.deserves == Status.passed]
    assert [attack.name for attack in passing if not honest.search(attack.deed)] == []


def test_the_published_table_is_this_one():
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(attacks_table.NUMBERS.format(r"\d+", r"\d+"), text)
    assert text.count("|---|---|---|---|\n") == 2
    assert text.rstrip() == page().rstrip()


def test_attacks_are_made_on_demand_and_held_against_their_files(monkeypatch, capsys, wall):
    corpus = [attack for attack in attacks_table.attacks() if attack.name in ("honest", "returns_nan")]
    monkeypatch.setattr(attacks_table, "attacks", lambda: corpus)
    monkeypatch.setattr(attacks_table, "surroundings", list)
    assert attacks_table.run_all() == 0
    assert "✔ returns nan · failed" in capsys.readouterr().out
    corpus[:] = [dataclasses.replace(attack, deserves="timeout") for attack in corpus]
    assert attacks_table.run_all() == 1
    assert holds(capsys.readouterr().out, "nan", "failed", "timeout")
