"""A contestant's process, from outside: it serves one request at a time, and is stopped in between.

Thread pools keep spinning for milliseconds after their work is done, and would take cores from the next
contestant.  So the system stops a process (SIGSTOP) until its next request.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.peers import Candidate, wire
from rnncourse.lab.apart import describe_end
from rnncourse.lab.blas import without_overrides

ROOT = Path(__file__).resolve().parents[2]
OWN_PEERS = ROOT / ".venv-peers" / "bin" / "python"  # what `make peers` sets up
VARIABLE = "RNNLAB_PEERS_PYTHON"
POOLS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "HL")  # <name>_NUM_THREADS says how many threads each may start
NOTHING: Mapping[str, str] = {}
PATIENCE = 900.0  # seconds for one answer; the slowest compilers need half a minute
FAREWELL = 5.0  # seconds for a process to end that has closed its pipe
LAST_OUTPUT = 2000  # characters of what a process said before it ended


class ContestantError(Exception):
    """A contestant that raised, or whose process has ended; the message is its own."""


class LateError(ContestantError):
    """A contestant that did not answer in time."""


class Peer:
    """One contestant's process; to be used in a `with`."""

    patience = PATIENCE

    def __init__(self, candidate: Candidate, python: str, threads: int, variables: Mapping = NOTHING):
        self.candidate = candidate
        self.stderr = tempfile.TemporaryFile()
        module = "bench.peers.serve"
        self.process = subprocess.Popen(
            [python, "-m", module, candidate.module, candidate.name, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            env=environment(os.environ, threads) | variables,
            start_new_session=True,  # Ctrl-C ends the benchmark, which then ends its peers
        )

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *exception: object) -> None:
        self._signal(signal.SIGKILL)  # ends a stopped process too, and what it started
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # a pipe to a process that is gone may hold a message for nobody
                stream.close()
        self.stderr.close()

    def request(
        self, what: str, arrays: Mapping[str, np.ndarray] | None = None, **fields: object
    ) -> tuple[dict, dict]:
        """The answer to one request, fields and arrays; the process runs only until it has sent them."""
        self._signal(signal.SIGCONT)
        end = threading.Timer(self.patience, self._signal, [signal.SIGKILL])
        end.start()
        try:
            wire.send(self.process.stdin, {"request": what, **fields}, arrays)
            answer, results = wire.receive(self.process.stdout)
        except (OSError, EOFError, ValueError) as error:
            raise self._reason_of_end(in_time=end.is_alive()) from error
        finally:
            end.cancel()
        self._stop()
        if "failed" in answer:
            raise ContestantError(answer["failed"])
        return answer, results

    def _stop(self) -> None:
        """Stop the process, and wait until it has stopped: on busy cores a signal arrives late."""
        self._signal(signal.SIGSTOP)
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):  # gone: the question that follows will say so
            os.killpg(self.process.pid, number)

    def _reason_of_end(self, in_time: bool) -> ContestantError:
        if not in_time:
            return LateError(f"it did not answer within {self.patience:g} s")
        self._await_end()
        status = self.process.wait()
        self.stderr.seek(0, os.SEEK_END)
        self.stderr.seek(max(0, self.stderr.tell() - LAST_OUTPUT))
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()
        last = f"; its last line: {lines[-1]}" if lines else ""
        return ContestantError(f"its process {describe_end(status)}{last}")

    def _await_end(self) -> None:
        """Let a process that closed its pipe end by itself, so that its status tells how, or kill it."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(FAREWELL)
        self._signal(signal.SIGKILL)


def environment(variables: Mapping[str, str], threads: int) -> dict[str, str]:
    """What a contestant is started with: equal threads, BLAS kernels by the library's own choice."""
    others = without_overrides(variables)
    limits = {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
    return {**others, **limits, "PYTHONPATH": str(ROOT)}


def interpreter(candidate: Candidate, peers_python: str | None = None) -> str | None:
    """The Python that can run it: this one where it has the package, else the peers'; None if neither has."""
    if candidate.needs is None or find_spec(candidate.needs):
        return sys.executable
    python = find_peers_python(peers_python)
    return python if python != sys.executable and _has(python, candidate.needs) else None


def find_peers_python(path: str | None = None) -> str:
    """The peers' interpreter: as given, as RNNLAB_PEERS_PYTHON says, that of `make peers`, or this one."""
    return path or os.environ.get(VARIABLE) or (str(OWN_PEERS) if OWN_PEERS.exists() else sys.executable)


def _has(python: str, package: str) -> bool:
    find = f"import sys, importlib.util as u; sys.exit(u.find_spec({package!r}) is None)"
    try:
        return subprocess.run([python, "-c", find], capture_output=True, check=False).returncode == 0
    except OSError as error:
        raise OSError(f"{python}, the peers' Python, cannot be run: {error.strerror}") from error
