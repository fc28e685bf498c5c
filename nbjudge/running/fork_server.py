"""Workers forked from a process that has loaded NumPy, and the simulator for kernels, seen from the judge.

Starting a worker as a program of its own takes 0.1 s of a core, with the simulator 2 s; a fork takes a
hundredth of a second. What keeps the answers of one server apart stands in inside/fork_server.py. Only under
bubblewrap, and only where a server proves by a trial that it works; else workers are programs as before.
"""

import json
import select
import socket
import subprocess
from contextlib import suppress
from dataclasses import replace

import psutil

from nbjudge.course import current
from nbjudge.running import sandbox
from nbjudge.running.family import Family
from nbjudge.running.sandbox import Sandbox
from nbjudge.running.worker import Answer, Worker, of_source
from nbjudge.verdict import Stopped

LONGEST = 1 << 17  # bytes of a message
START = 60.0  # seconds until a server must be ready: the simulator's compilers take two
SOON = 1.0  # seconds until a fork whose answer was killed usually has ended
END = 10.0  # seconds until a forked process that was killed must have ended


class ForkServer:
    """One server, started when the first worker is wanted and again where it has died."""

    def __init__(self, box: Sandbox, simulator: bool):
        self.box, self.simulator = box, simulator
        self.program: subprocess.Popen | None = None
        self.control: socket.socket | None = None
        self.process: psutil.Process | None = None  # the server itself, below bubblewrap
        self.running: Forked | None = None
        self.loading = 0.0  # seconds of the processor until each server was ready

    def fork(self, settings: dict, ask: int, answer: int) -> "Forked":
        """A worker with these settings and descriptors. Raises OSError where there is none."""
        if self.running is not None and self.running.poll() is None:
            self.end()  # the one before it cannot be ended: nothing of this server is used any more
        if self.program is None or self.program.poll() is not None:
            self._start()
        try:
            socket.send_fds(self.control, [json.dumps(settings).encode()], [ask, answer])
        except OSError:
            self.end()
            raise
        self.running = Forked(self)
        return self.running

    def _start(self) -> None:
        """Start the server. Raises OSError where it does not become ready."""
        self.end()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = {"control": theirs.fileno(), "simulator": self.simulator, "course": self.box.course}
        settings["kind"] = sandbox.kind_files(self.box)["file"]
        settings |= {"scratch": sandbox.SCRATCH, "machine": sandbox.MACHINE}
        with theirs:
            self.program = subprocess.Popen(
                self.box.server_command(json.dumps(settings)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                env=sandbox.environment(),
                start_new_session=True,
            )
        word = self._receive(START)
        if word != b"ready":
            self.end()
            raise OSError("the server of workers did not start")
        below = psutil.Process(self.program.pid).children(recursive=True)
        self.process = below[-1]
        self.loading += self.seconds()

    def _receive(self, seconds: float) -> bytes:
        """The next message of the server; empty where there is none in time."""
        if not select.select([self.control], [], [], seconds)[0]:
            return b""
        with suppress(OSError):
            return self.control.recv(LONGEST)
        return b""

    def status(self, seconds: float) -> int | None:
        """The exit status of the worker that was forked last; None while it runs."""
        if not select.select([self.control], [], [], seconds)[0]:
            return None
        message = self._receive(0)
        return int(message) if message.isdigit() else 1  # the server itself has died

    def seconds(self) -> float:
        """Seconds of the processor of the server and of all its forks that have ended, answers among them."""
        if self.process is None:
            return 0.0
        with suppress(psutil.Error):
            return sum(self.process.cpu_times()[:4])
        return 0.0

    def end(self) -> None:
        """End the server and all that it has forked."""
        if self.program is not None:
            self.program.kill()  # bubblewrap's namespace of processes ends with it
            self.program.wait()
            self.program.stderr.close()
            self.control.close()
        self.program = self.control = self.process = self.running = None


class ForkServers:
    """One server for answers that need the simulator, one for all others."""

    def __init__(self, box: Sandbox):
        self.servers = {simulator: ForkServer(box, simulator) for simulator in (False, True)}

    def fork(self, answer: Answer, settings: dict, ask: int, reply: int) -> "Forked":
        """The worker for an answer. Raises OSError where there is none."""
        simulator = any(current().kind.word in source for _, source, _ in answer.cells)
        return self.servers[simulator].fork(settings, ask, reply)

    def seconds(self) -> float:
        """Seconds of the processor of both, and of all their forks that have ended."""
        return sum(server.seconds() for server in self.servers.values())

    def loading(self) -> float:
        """Seconds of the processor until each server was ready."""
        return sum(server.loading for server in self.servers.values())

    def end(self) -> None:
        """End both."""
        for server in self.servers.values():
            server.end()


def choose(plain: bool = False) -> tuple[Sandbox, ForkServers | None]:
    """(the sandbox that works here, its servers): where these work, bubblewrap needs no trial of its own."""
    forked, servers = (None, None) if plain else forking(Sandbox("bubblewrap", ""))
    return (sandbox.choose(plain), None) if servers is None else (forked, servers)


def forking(box: Sandbox) -> tuple[Sandbox, ForkServers | None]:
    """(the same sandbox with forked workers, their servers) where a trial shows that these work here."""
    if box.name != "bubblewrap" or sandbox.hides_its_packages():
        return box, None
    servers = ForkServers(box)
    forked = replace(box, fork=servers.fork)
    try:
        with Worker(of_source("trial", "def trial(x):\n    return x + 1\n"), START, forked) as worker:
            if worker(1) == 2:
                return forked, servers
    except (Stopped, OSError):
        pass  # this system allows no namespaces within namespaces
    servers.end()
    return box, None


class Forked:
    """A worker that a server has forked, with the words of subprocess.Popen."""

    def __init__(self, server: ForkServer):
        self.server, self.pid = server, server.process.pid
        self.returncode: int | None = None

    @property
    def stderr(self) -> object:
        """The standard error of the server, which a fork shares until it takes an answer."""
        return self.server.program.stderr

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        if self.returncode is None and self.server.control is not None:
            self.returncode = self.server.status(0)
        return self.returncode

    def end(self, family: Family) -> bool:
        """End the process and all it has started; False if the server does not say so in time."""
        for first, patience in ((False, SOON), (True, END)):
            if self.poll() is None:
                family.kill(first)
                self.returncode = self.server.status(patience)
        return self.returncode is not None

    def wait(self, timeout: float = END) -> int:
        """The exit status. Raises subprocess.TimeoutExpired where it still runs after so many seconds."""
        if self.returncode is None:
            self.returncode = self.server.status(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("worker", timeout)
        return self.returncode
