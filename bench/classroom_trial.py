"""A class of synthetic students, graded twice: undisturbed, and killed at random moments and resumed.

    python -m bench.classroom_trial FOLDER [--count 500] [--kills 10] [--jobs 2] [--seed 0] [--rows N]

--rows: at most so many notebooks with known mistakes for each lesson, one mistake in each exercise of each.
--together MINUTES: both runs at once, with the kills within so many minutes.

Run by hand: it takes the better part of an hour. Honest notebooks, every known mistake,
every attack of docs/attacks.md, untouched and damaged notebooks. It ends with 1 where the two runs differ,
where an attack or a mistake gets a point, or where an honest answer loses one; and it prints what a teacher
wants to know of a machine: minutes by the clock and of a core, and memory.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import psutil

from nbjudge.classroom import results
from nbjudge.grading.self_check import notebook
from rnncourse import checks
from rnncourse.checks.answers import answers

TESTS = Path(__file__).parents[1] / "tests"
sys.path.append(str(TESTS))  # attacks, damages and pretended classes are those of the tests

import attacks_table as attacks
import fuzz_notebooks
from pretended_class import without_times

NAMES = "Ada", "Zoë", "José", "Łukasz", "Nguyễn", "陈", "Ольга", "עדה", "O'Neil", "Müller, A.", "أمل", "Ìyá"
HOST = "last_step"  # the exercise in whose place the attacks on the demonstration exercise are made
HOSTED = """
def {host}(*inputs):
    import numpy as np
    attempt = running_sum(np.ones((3, 2)))
    return honest_answer(*inputs) if {right} else attempt
"""
LEFT_OUT = "kernel_of_a_class_of_its_own"  # an attack by a statement that no answer needs
OPEN = "passed"  # the status that an honest answer must get


def book_of(lesson: str, folder: str = "solutions") -> dict:
    """The notebook of a lesson as an object of JSON."""
    return json.loads(notebook(folder, lesson).read_text(encoding="utf-8"))


def text_of(cell: dict) -> str:
    return "".join(cell["source"])


def cell_of(book: dict, name: str) -> dict:
    """The cell that defines an exercise's function."""
    return next(
        cell
        for cell in book["cells"]
        if cell["cell_type"] == "code" and re.search(rf"^(def {name}\b|{name} =)", text_of(cell), re.M)
    )


def honest(lesson: str) -> tuple[dict, dict]:
    """A solved notebook, and the status that each exercise must have."""
    return book_of(lesson), dict.fromkeys(checks.catalogue(lesson), OPEN)


def mistaken(lesson: str, mutants: dict) -> tuple[dict, dict]:
    """A notebook with one known mistake in each exercise that has one; those exercises must get nothing."""
    book, expected = honest(lesson)
    for name, mutant in mutants.items():
        cell = cell_of(book, name)
        cell["source"] = text_of(cell).replace(mutant.old, mutant.new)
    return book, {name: "no points" if name in mutants else None for name in expected}


def attacked(attack: attacks.Attack) -> tuple[str, dict, dict]:
    """A solved notebook with one attack in it. What that does to the attacker's other exercises is nobody's
    loss; a statement that the answer does not need is left out, and then the attack is none."""
    lesson, name = (
        next((u, attack.exercise) for u in checks.LESSONS if attack.exercise in checks.catalogue(u))
        if (attack.exercise)
        else ("start_here", HOST)
    )
    book, expected = honest(lesson)
    cell, source = cell_of(book, name), attack.source
    if attack.exercise:
        cell["source"] = source
    else:
        hosted = HOSTED.format(host=HOST, right=attack.deserves == OPEN)
        cell["source"] = re.sub(rf"\b{HOST}\b", "honest_answer", text_of(cell)) + "\n\n" + source + hosted
    is_right = attack.deserves == OPEN or attack.name == LEFT_OUT
    return lesson, book, dict.fromkeys(expected) | {name: None if is_right else "no points"}


def mistakes_of(lesson: str) -> list[dict]:
    """[{exercise: mutant}, ...]: each known mistake of a lesson once, one for each exercise at a time."""
    columns = [[(answer.name, mutant) for mutant in answer.mutants] for answer in answers(lesson).values()]
    return [dict(filter(None, row)) for row in zip_longest(*columns)]


def submissions(count: int, seed: int, rows: int | None) -> list[tuple]:
    """[(kind, lesson, bytes, expected status by exercise), ...] of a class."""
    draw = random.Random(seed)
    listed = []
    for attack in attacks.attacks():
        lesson, book, expected = attacked(attack)
        listed.append((f"attack {attack.name}", lesson, packed(book), expected))
    for lesson in checks.LESSONS:
        for row in mistakes_of(lesson)[:rows]:
            listed.append((f"mistakes of {lesson}", lesson, *pair(mistaken(lesson, row))))
        untouched = packed(book_of(lesson, "exercises"))
        listed.append(
            ("untouched", lesson, untouched, dict.fromkeys(checks.catalogue(lesson), "not_attempted"))
        )
    lessons = list(checks.LESSONS)
    for number in range(max(0, count - len(listed))):
        lesson = lessons[number % len(lessons)]
        if number % 3:
            listed.append(("honest", lesson, *pair(honest(lesson))))
        else:
            damaged = fuzz_notebooks.damaged(book_of(lesson), draw)
            listed.append(("damaged", lesson, damaged, {}))
    draw.shuffle(listed)
    return listed[:count]


def packed(book: dict) -> bytes:
    return json.dumps(book, ensure_ascii=False).encode(errors="surrogatepass")


def pair(case: tuple[dict, dict]) -> tuple[bytes, dict]:
    book, expected = case
    return packed(book), expected


def write_download(path: Path, listed: list[tuple]) -> dict:
    """A download with a folder for each student; {folder: what is expected} by name."""
    expected = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (kind, lesson, content, statuses) in enumerate(listed):
            student = f"{NAMES[number % len(NAMES)]} {number:04d}"
            archive.writestr(f"class/{student}/{checks.LESSONS[lesson]}.ipynb", content)
            expected[student] = [kind, lesson, statuses]
    return expected


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-P", "-m", "rnncourse.cli", "class", *map(str, arguments)]


def grade(folder: Path, jobs: int, patience: float | None = None) -> tuple[float, int, bool]:
    """Grade a class folder, killed after `patience` seconds; (seconds, largest bytes, whether it ended)."""
    begin, largest = time.monotonic(), 0
    with open(folder.with_suffix(".log"), "ab") as log:
        process = subprocess.Popen(
            command("grade", folder, "--jobs", jobs, "--resume"), stdout=log, stderr=log
        )
    while process.poll() is None:
        seconds = time.monotonic() - begin
        if patience is not None and seconds > patience:
            process.kill()
            process.wait()
            return seconds, largest, False
        largest = max(largest, tree_bytes(process.pid))
        time.sleep(0.5)
    if process.returncode not in (0, 3):
        raise SystemExit(f"grading ended with {process.returncode}: see {folder.with_suffix('.log')}")
    return time.monotonic() - begin, largest, True


def tree_bytes(pid: int) -> int:
    """Memory that a process and its descendants take."""
    total = 0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0
    for process in family:
        try:
            total += process.memory_full_info().pss  # what forked processes share counts once
        except psutil.Error:
            continue  # it has just ended
    return total


def judged(folder: Path, expected: dict) -> Iterator[str]:
    """Sentences on each verdict that is not what it must be."""
    for result in results.load(folder):
        kind, _, statuses = expected[result.student]
        for exercise in result.exercises:
            wanted = statuses.get(exercise["name"])
            is_forged = wanted == "no points" and exercise["points"]
            is_lost = wanted in (OPEN, "not_attempted") and exercise["status"] != wanted
            if is_forged or is_lost:
                word = "forged" if is_forged else "lost"
                verdict = f"{exercise['name']} {exercise['status']}: {exercise['message']}"
                yield f"{word}: {result.student}, {kind}: {verdict}"
        if result.problem and statuses:
            yield f"lost: {result.student}, {kind}: {result.problem}"


def bare(folder: Path) -> bytes:
    """The results without times, as bytes."""
    listed = [without_times(result) for result in results.load(folder)]
    return b"".join(json.dumps(entry, sort_keys=True).encode() + b"\n" for entry in listed)


def main(arguments: list[str]) -> int:
    """Make the class, grade it twice, and say what differs; 1 where anything does."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    options = {"--count": 500, "--kills": 10, "--jobs": 2, "--seed": 0, "--rows": None, "--together": 0}
    for option, value in options.items():
        parser.add_argument(option, type=int, default=value)
    chosen = parser.parse_args(arguments)
    quiet, killed = chosen.folder / "undisturbed", chosen.folder / "killed"
    chosen.folder.mkdir(parents=True, exist_ok=True)
    listed = submissions(chosen.count, chosen.seed, chosen.rows)
    expected = write_download(chosen.folder / "class.zip", listed)
    print(dict(Counter(kind.split()[0] for kind, *_ in listed)), flush=True)
    subprocess.run(command("collect", quiet, chosen.folder / "class.zip"), stdout=subprocess.DEVNULL)
    shutil.copytree(quiet, killed)
    if chosen.together:
        other = threading.Thread(target=with_kills, args=(killed, chosen, 60 * chosen.together))
        other.start()
        undisturbed(quiet, chosen)
        other.join()
    else:
        with_kills(killed, chosen, undisturbed(quiet, chosen))
    return conclude(quiet, killed, expected)


def undisturbed(folder: Path, chosen: argparse.Namespace) -> float:
    """Grade a class without a kill; its seconds."""
    before = seconds_of_cores()
    seconds, largest, _ = grade(folder, chosen.jobs)
    core = f"{(seconds_of_cores() - before) / 60:.1f} minutes of a core on this machine"
    print(f"undisturbed: {seconds / 60:.1f} minutes, {core}, at most {largest / 2**30:.2f} GiB", flush=True)
    return seconds


def seconds_of_cores() -> float:
    """Seconds of all cores, other programs included: what an answer's wall ends counts for no parent."""
    used = psutil.cpu_times()
    return used.user + used.nice + used.system


def with_kills(folder: Path, chosen: argparse.Namespace, seconds: float) -> None:
    """Grade a class with kills at random moments of so many seconds."""
    draw, begin = random.Random(chosen.seed), time.monotonic()
    for number in range(chosen.kills):
        spent, _, ended = grade(folder, chosen.jobs, draw.uniform(0.3, 1.7) * seconds / (chosen.kills + 1))
        count = len(list(folder.glob("results/*/*.json")))
        end = " (it had ended)" if ended else ""
        print(f"kill {number + 1} after {spent:.1f} s: {count} results{end}", flush=True)
    grade(folder, chosen.jobs)
    print(f"killed and resumed: {(time.monotonic() - begin) / 60:.1f} minutes", flush=True)


def conclude(quiet: Path, killed: Path, expected: dict) -> int:
    """Print what differs; 1 where anything is not as it must be."""
    problems = list(judged(quiet, expected))
    if bare(quiet) != bare(killed):
        for one, other in zip(results.load(quiet), results.load(killed), strict=False):
            if without_times(one) != without_times(other):
                problems.append(f"differs: {one.student}, {expected[one.student][0]}")
    print(*problems, sep="\n")
    listed = results.load(quiet)
    statuses = Counter(exercise["status"] for result in listed for exercise in result.exercises)
    print(f"{len(listed)} results, {dict(statuses)}")
    print(f"{len(problems)} problems; results {'agree' if bare(quiet) == bare(killed) else 'differ'}")
    return int(bool(problems) or bare(quiet) != bare(killed))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    sys.exit(main(sys.argv[1:]))
