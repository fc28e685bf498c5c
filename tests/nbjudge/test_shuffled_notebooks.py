"""`check`, as a learner saw it, and `grade` agree on 200 notebooks of split, moved and redefined cells.

Graded is the notebook as it was saved after its cells had run, with its counts and errors. An answer that is
defined again below its last check is not compared, because that check saw another one.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shuffled_notebooks import EXERCISES, notebook

BATCH = 10  # notebooks a process: loading takes longer than one of them
STUB = "not_attempted"  # the stub stood last; a grade leaves it out, so that a copied cell hides no answer
PROGRAM = Path(__file__).parents[1] / "style_verdicts.py"


def verdicts(way, inputs):
    """{key: [status, message]}, each in a fork of one process."""
    command = [sys.executable, str(PROGRAM), way]
    done = subprocess.run(command, input=json.dumps(inputs), capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    return {key: outcome[way] for key, outcome in json.loads(done.stdout).items()}


def is_checked_last(cells, name):
    """Whether the last check of an answer stands below its last definition: else it saw another one."""
    gives = re.compile(rf"^(?:def )?{name}\b(?!\()|^def {name}\b", re.MULTILINE)
    defined = max(place for place, cell in enumerate(cells) if gives.search(cell["source"]))
    ran = [place for place, cell in enumerate(cells) if not cell["outputs"]]
    checked = [place for place in ran if f"check({name})" in cells[place]["source"]]
    return bool(checked) and checked[-1] > defined


def outcomes(seeds):
    """{seed and exercise: (status that was seen, status and message of the grade)}."""
    notebooks = {seed: notebook(seed) for seed in seeds}
    shown = verdicts("seen", {seed: [names[0], cells] for seed, (names, cells) in notebooks.items()})
    ran = {seed: json.loads(message) for seed, (_, message) in shown.items()}
    seen = {
        f"{seed} {name}": status
        for seed, (statuses, cells) in ran.items()
        for name, status in statuses.items()
        if status != STUB and is_checked_last(cells, name)
    }
    inputs = {key: [key.split()[1], ran[key.split()[0]][1]] for key in seen}
    grades = verdicts("grade", inputs)
    return {key: (seen[key], *grades[key]) for key in seen}


@pytest.mark.corpus
@pytest.mark.parametrize("first", range(0, 200, BATCH))
def test_check_and_grade_agree_on_a_notebook_of_moved_cells(first):
    pytest.importorskip("IPython")
    pairs = outcomes(range(first, first + BATCH))
    assert not {key: both for key, both in pairs.items() if both[0] != both[1]}
    assert sum(seen == "passed" for seen, *_ in pairs.values()) >= 3


def test_the_notebooks_are_of_all_exercises_and_no_two_are_alike():
    notebooks = [notebook(seed) for seed in range(200)]
    assert {name for names, _ in notebooks for name in names} == {*EXERCISES}
    assert len({"\n".join(cells) for _, cells in notebooks}) == 200
