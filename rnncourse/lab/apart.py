"""Call a function in a process of its own, so that no crash ends the notebook; in a browser, in this one."""

import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rnnlab.resources import in_browser

PATIENCE = 300.0  # seconds for a call
MEANINGS = {
    "SIGILL": "it met an instruction that this processor lacks",
    "SIGSEGV": "it touched memory that is not its own",
    "SIGBUS": "it touched memory that is not there",
    "SIGFPE": "it divided by zero",
    "SIGABRT": "it stopped itself",
    "SIGKILL": "it was killed, as Linux does when memory is exhausted",
}
CALL = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    function, arguments, options = pickle.load(file)
try:
    answer = True, function(*arguments, **options)
except Exception as error:
    answer = False, error
with open(sys.argv[2], "wb") as file:
    pickle.dump(answer, file)
"""


class ProcessEnded(RuntimeError):
    """A process that ended, or was ended, before it had an answer; the message says how."""


def call_apart(
    function: Callable, *arguments: object, patience: float = PATIENCE, **options: object
) -> object:
    """What a function of a module returns in another process, where a crash cannot take this one along.

    What it raises is raised here.  Raises ProcessEnded where the process ends without an answer, or has none
    after `patience` seconds.
    """
    if in_browser():
        return function(*arguments, **options)
    with tempfile.TemporaryDirectory() as folder:
        call = Path(folder) / "call"
        answered = Path(folder) / "answer"
        call.write_bytes(pickle.dumps((function, arguments, options)))
        command = [sys.executable, "-c", CALL, str(call), str(answered)]
        try:
            status = subprocess.run(command, timeout=patience).returncode
        except subprocess.TimeoutExpired as late:
            raise ProcessEnded(f"the process had no answer after {patience:g} s") from late
        if status or not answered.exists():
            raise ProcessEnded(f"the process {describe_end(status)}")
        is_answer, answer = pickle.loads(answered.read_bytes())
    if is_answer:
        return answer
    raise answer


def describe_end(status: int) -> str:
    """How a process ended, from the return code that subprocess gives it; the signal is named."""
    if status >= 0:
        return f"ended with status {status}"
    number = -status
    name = signal.Signals(number).name if number in {*signal.Signals} else str(number)
    return f"was ended by signal {name}" + (f": {MEANINGS[name]}" if name in MEANINGS else "")
