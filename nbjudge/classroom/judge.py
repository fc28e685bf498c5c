"""A judge's process seen from the engine: started, given submissions, ended, and replaced where it dies.

A judge that is killed or does not answer in time gets one more try at the exercise that it was judging; the
second loss is a fault of the grader, listed apart, and the student's other exercises are judged as usual.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from nbjudge.classroom import results
from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.running.sandbox import CHECKOUT, ONE_THREAD
from nbjudge.verdict import Status, Verdict

PROGRAM = sys.executable, "-P", "-m", "nbjudge.classroom.judge_process"
TRIES = 2  # judges that an exercise may lose
READING = 600.0  # seconds until the first word on a submission: imports, and reading the notebook
LOST = "Its judge was killed or hung {count} times: not graded."
BY_HAND = "read this answer yourself; in plain mode an answer can end its judge"


class Lost(Exception):
    """The judge's process has ended or does not answer."""


class Judge:
    """One process that grades submissions, one after another. To be used in a `with`."""

    def __init__(self, program: Sequence[str] = PROGRAM) -> None:
        self.program = program
        self.process: subprocess.Popen | None = None
        self.is_closed = False
        self._unread = b""

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def grade(self, job: dict) -> dict:
        """The outcome of a job (judge_process.grade_submission): exercises, problem, sandbox, seconds,
        variant.

        Raises Unusable where the judge refuses the job.
        """
        outcome = empty_outcome(job)
        start = time.monotonic()
        losses: Counter[str] = Counter()
        while True:
            over = [*job["passed_over"], *(entry["name"] for entry in outcome["exercises"])]
            self.current = ""
            try:
                self._ask(job | {"passed_over": over}, outcome)
                break
            except Lost:
                self.end()
                if self.is_closed:
                    raise
            losses[self.current] += 1
            if losses[self.current] == TRIES:
                names = [self.current] if self.current else None
                outcome["exercises"] += given_up(job, over, names)
                if names is None:  # no judge begins: another one would not either
                    break
        outcome["seconds"] = time.monotonic() - start
        return outcome

    def close(self) -> None:
        """End the process for good; another thread may be waiting for its words, and gets Lost."""
        self.is_closed = True
        self._kill(self.process)

    def end(self) -> None:
        """End the process and all that it has started."""
        process = self.process
        self.process = None
        self._unread = b""
        if process is None:
            return
        self._kill(process)
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()

    @staticmethod
    def _kill(process: subprocess.Popen | None) -> None:
        """Kill a judge; the processes of its answers end with it."""
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _ask(self, job: dict, outcome: dict) -> None:
        """Have the judge grade, and put its words into the outcome. Raises Lost."""
        self._start()
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()
        limit = READING
        while True:
            word = self._word(limit)
            if "refuses" in word:
                raise Unusable(word["refuses"])
            if "ends" in word:
                outcome |= {
                    "problem": word["ends"],
                    "sandbox": word["sandbox"],
                    "limits_by": word.get("limits_by", ""),
                }
                return
            if "begins" in word:
                self.current = word["begins"]
                limit = word["limit"]
                continue
            entry = word.get("exercise")
            if not isinstance(entry, dict) or entry.get("name") != self.current:
                raise Lost("its word is no verdict on the exercise that it judges")
            self.current = ""
            limit = READING
            outcome["exercises"].append(entry)
            if word["variant"] is not None:
                outcome["variant"][entry["name"]] = word["variant"]

    def _start(self) -> None:
        """Start the process, unless it runs."""
        if self.process is not None and self.process.poll() is None:
            return
        self.end()
        if self.is_closed:
            raise Lost("closed")
        path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            self.program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": path},
            start_new_session=True,
        )

    def _word(self, limit: float) -> dict:
        """The next word of the judge, within so many seconds. Raises Lost."""
        until = time.monotonic() + limit
        output = self.process.stdout.fileno()
        while b"\n" not in self._unread:
            left = max(until - time.monotonic(), 0)  # 0: this process was stopped, and the word may be there
            if not select.select([output], [], [], left)[0]:
                raise Lost("no answer in time")
            part = os.read(output, 1 << 20)
            if not part:
                raise Lost("its process has ended")
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\n")
        try:
            word = json.loads(line)
        except ValueError:
            word = None
        if not isinstance(word, dict):
            raise Lost("in plain mode an answer can write where its judge does")
        return word


def empty_outcome(job: dict) -> dict:
    """The outcome of a job of which nothing is judged yet."""
    outcome = {"exercises": [], "problem": None, "sandbox": None, "variant": {}}
    return outcome | {"max_score": sum(current().catalogue(job["lesson"]).values())}


def given_up(job: dict, over: Sequence[str] = (), names: Sequence[str] | None = None) -> list[dict]:
    """Faults for the exercises that have cost their judges, or for all that are not over."""
    points = current().catalogue(job["lesson"])
    names = [name for name in names or points if name not in over and job["names"] in (None, [name])]
    message = LOST.format(count=TRIES)
    verdicts = (Verdict(name, Status.grader_error, 0, points[name], message, None, BY_HAND) for name in names)
    return [results.exercise_entry(verdict, job["grader"]) for verdict in verdicts]
