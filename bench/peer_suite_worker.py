"""Run a module of numba-cuda's tests through its simulator or one of our engines; JSON for each test.

peer_suite.py starts it in a process of its own, because a test that hangs can only be ended with its process:

    NUMBA_ENABLE_CUDASIM=1 python -m bench.peer_suite_worker lockstep numba.cuda.tests.cudapy.test_sync
"""

import builtins
import contextlib
import importlib
import io
import itertools
import json
import linecache
import subprocess
import sys
import traceback
import unittest

# skipped by their simulator, which has no warps, one block at a time, and no kernel but those of a module
RUN_ANYWAY = ("test_warp_ops", "test_cooperative_groups", "test_sync", "doc_examples")
WHY_CHARACTERS = 160


class Lines(unittest.TestResult):
    """Says of every test that it starts, and how it ended."""

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.failed = None

    def say(self, **what) -> None:
        """Write one line at once: it must be out before the next test can hang."""
        print(json.dumps(what), file=self.out, flush=True)

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.failed = None
        self.say(test=test.id(), outcome="started")

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.say(test=test.id(), outcome="passed")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.say(test=test.id(), outcome="skipped", why=reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: tuple) -> None:
        self.say(test=test.id(), outcome="skipped", why="expected to fail")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.say(test=test.id(), outcome="failed", why="expected to fail, and did not")

    def addError(self, test: unittest.TestCase, err: tuple) -> None:
        kind, error, trace = err
        last = traceback.extract_tb(trace)[-1]
        message = " ".join(str(error).split())[:WHY_CHARACTERS]
        place = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
        self.say(test=test.id(), outcome="failed", why=f"{kind.__name__}: {message} ({place})")

    addFailure = addError

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: tuple | None) -> None:
        if err and self.failed != test.id():
            self.failed = test.id()
            self.addError(test, err)


def runs_anyway(module_name: str) -> bool:
    """Are tests of this module run although their simulator skips them?"""
    return any(part in module_name.split(".") for part in RUN_ANYWAY)


def replace_numba_names() -> None:
    """Every word of ours instead of theirs in the module that the tests import."""
    import numba.cuda as theirs

    from pocketgpu import simulator as ours

    for name in dir(ours):
        if not name.startswith("_") and name != "types":  # Numba's own are looked into by its compiler
            setattr(theirs, name, getattr(ours, name))
    theirs.__getattr__ = ours.__getattr__


def replace_numba_names_in_children() -> None:
    """Tests of print run their kernel by python -c."""
    theirs = subprocess.run
    prefix = f"from {__spec__.name} import {replace_numba_names.__name__} as replace; replace()\n"

    def run(command: list, *arguments, **options):
        if command[:2] == [sys.executable, "-c"]:
            command = [*command[:2], prefix + command[2]]
        return theirs(command, *arguments, **options)

    subprocess.run = run


def keep_texts_of_exec() -> None:
    """What a test makes by exec("def kernel…") gets a file name by which its text is found."""
    plain = builtins.exec
    numbers = itertools.count()

    def exec_with_text(source: object, *scopes: dict) -> None:
        frame = sys._getframe(1)
        if isinstance(source, str):
            label = f"<made by exec {next(numbers)}>"
            linecache.cache[label] = len(source), None, source.splitlines(True), label
            source = compile(source, label, "exec")
        plain(source, *(scopes or (frame.f_globals, frame.f_locals)))

    builtins.exec = exec_with_text


def ignore_skips() -> None:
    """skip_on_cudasim("…") as a decorator that skips nothing."""
    import numba.cuda.testing as testing

    testing.skip_on_cudasim = lambda reason: lambda decorated: decorated


def tests_of(module_name: str) -> list[unittest.TestCase]:
    """Every test of a module, one by one."""
    tests = []
    todo = [unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module_name))]
    while todo:
        item = todo.pop()
        if isinstance(item, unittest.TestSuite):
            todo.extend(item)
        else:
            tests.append(item)
    return sorted(tests, key=lambda test: test.id())


def main(simulator: str, module_name: str, *wanted: str) -> None:
    """Run all tests of the module, or only those wanted."""
    result = Lines(sys.__stdout__)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            if simulator != "theirs":
                replace_numba_names()
                replace_numba_names_in_children()
                keep_texts_of_exec()
            if runs_anyway(module_name):
                ignore_skips()
            tests = tests_of(module_name)
    except Exception as error:  # whatever a foreign module may raise: no test of it can be run
        result.say(
            test=module_name, outcome="failed", why=f"{type(error).__name__}: {error}"[:WHY_CHARACTERS]
        )
        return
    chosen = [test for test in tests if not wanted or test.id() in wanted]
    result.say(test=module_name, outcome="found", tests=[test.id() for test in chosen])
    with contextlib.redirect_stdout(io.StringIO()), _let_races_run(simulator):
        unittest.TestSuite(chosen).run(result)


def _let_races_run(simulator: str):
    """Launch without raising findings: some of these kernels race on purpose, and their results count."""
    if simulator == "theirs":
        return contextlib.nullcontext()
    from pocketgpu.simulator import lockstep
    from pocketgpu.simulator.settings import settings

    lockstep.FEWEST_THREADS = 1  # most of these launches are smaller than what lockstep is for
    return settings(raise_findings=False, lockstep=simulator == "lockstep")


if __name__ == "__main__":
    main(*sys.argv[1:])
