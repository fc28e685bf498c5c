"""A submission in a process of its own: what grading uses. One process an exercise, ended with all it
started.

Nothing that decides a verdict ever enters that process. The judge sends inputs and reads bytes that it trusts
as little as a stranger's: their size is capped before they are read, and they become arrays and numbers,
never code.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
import warnings
from contextlib import ExitStack, suppress

import psutil

from nbjudge.clock import is_starved, waiting_of
from nbjudge.course import current
from nbjudge.running import control_group, memory, sandbox
from nbjudge.running.conversation import TOO_BIG, TOO_SLOW, Conversation, answer, out_of_time
from nbjudge.running.family import Family, adopt_orphans, waits_for_disk
from nbjudge.running.inside import wire
from nbjudge.running.learner_answer import LearnerAnswer
from nbjudge.running.sandbox import Sandbox
from nbjudge.verdict import Status, Stopped

PIPE = 1 << 16  # bytes that a pipe takes at once
TICK = 0.05
LONGEST_TICK = 0.2  # seconds between two looks at what the process does
LOOKING = 0.1  # share of the time that looks may take, as far as LONGEST_TICK allows
FILLING = 4 << 30  # bytes of new memory that a process may fill in a second
LINE = 300
FAILURES = 5  # characters of a statement that was left out, and how many are named
ENDING = 10  # seconds for a process that was killed to be gone
START = 30.0  # seconds until a worker must have started: a machine may be full of other work


class NotStarted(Stopped):
    """The process was not ready in time. Nothing of the answer has run."""

    def __init__(self, name: str, why: str):
        sentence = f"The process for {name} did not start ({why}): not graded."
        super().__init__(Status.grader_error, sentence, "grade this exercise again")


class Worker:
    """A callable that runs the learner's function in its process. To be used in a `with`.

    The time limit is for all calls, without the time in which it waits for a core or a disk (on Linux).
    """

    def __init__(self, answer: LearnerAnswer, seconds: float, box: Sandbox):
        self.asked = answer
        self.name = answer.name
        self.box = box
        self.left = self.seconds = seconds
        self.ready = False
        self.left_out: list[str] = []  # statements that failed when the answer was loaded, with the reason
        self._starting = 0.0  # seconds of the processor until the process was ready
        self._called = 0.0  # of the judge's processor, for functions that the answer calls
        self._granted = 0.0
        self._own_waiting = waiting_of(os.getpid())
        self._on_disk = 0.0  # seconds in which a disk or the network's files kept it waiting
        self._group: control_group.ControlGroup | None = None

    def __enter__(self) -> "Worker":
        with ExitStack() as stack:
            self._start(stack)
            self._load()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception) -> None:
        self._stack.close()

    def __call__(self, *arguments, **keywords) -> object:
        conversation = Conversation(self.name)
        frame = self._exchange(conversation.question(arguments, keywords))
        while conversation.is_request(frame):
            own = time.process_time()
            reply = conversation.reply(frame)
            self._called += time.process_time() - own
            frame = self._exchange(reply)
        return conversation.outcome(frame)

    def _start(self, stack: ExitStack) -> None:
        """The process, with one pipe each way; on leaving the stack its whole family is ended."""
        ask, self.asking = os.pipe()
        self.answering, reply = os.pipe()
        for end in (self.asking, self.answering):
            stack.callback(os.close, end)
            os.set_blocking(end, False)
        settings = {
            "ask": ask,
            "answer": reply,
            "limits": sandbox.limits(self.seconds, self.box.memory),
            "hidden": sandbox.hidden(),
            "course": self.box.course,
            "name": current().name,
            "packages": current().packages,
            "kind": sandbox.kind_files(self.box),
        }
        try:
            self._launch(settings, (ask, reply), stack)
        finally:
            os.close(ask)
            os.close(reply)
        stack.callback(self._end)
        self._await_ready()
        self._confine()
        self._starting = self.family.seconds()

    def _confine(self) -> None:
        """Put the process, which has not seen the answer yet, into a control group where one may be made."""
        if not self.box.has_group:
            return
        self._group = control_group.borrow(*self.box.group_limits)
        if self._group is None:
            raise NotStarted(self.name, "its control group could not be made")
        self._group.take([member.pid for member in self.family.members()])

    def _launch(self, settings: dict, ends: tuple[int, int], stack: ExitStack) -> None:
        """Start the process, in an empty folder."""
        folder = tempfile.mkdtemp()
        stack.callback(_remove, folder)
        adopt_orphans(True)
        stack.callback(adopt_orphans, False)
        self.family = Family()
        self.process = subprocess.Popen(
            self.box.command(json.dumps(settings)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=ends,
            env=sandbox.environment(),
            cwd=folder,
            start_new_session=True,
        )
        self.family.first = self.process.pid
        stack.enter_context(self.process.stderr)

    def _await_ready(self) -> None:
        """Wait until the process can take the answer; its standard error is read no further."""
        try:
            wire.unpack(self._exchange(b"", START))
        except (Stopped, wire.Broken) as problem:
            why = problem.message if isinstance(problem, Stopped) else "its first words cannot be read"
            raise NotStarted(self.name, self._complaint() or why) from problem
        finally:
            self.process.stderr.close()
        self.ready = True

    def _complaint(self) -> str:
        """What the process has written to its standard error."""
        os.set_blocking(self.process.stderr.fileno(), False)
        return (self.process.stderr.read(500) or b"").decode(errors="replace").strip()

    def _load(self) -> None:
        """Hand over the answer's source; raises Stopped if it defines none."""
        try:
            frame = self.asked.packed()
        except wire.TooBig:
            limit = wire.MAX_BUFFERS >> 20
            sentence = f"The cells that {self.name} needs hold more than {limit} MiB of text."
            raise Stopped(Status.too_big, sentence, "read large data from a file, or compute it") from None
        state = answer(self.name, self._exchange(frame))
        is_function, *failures = state if type(state) is list and state else [False]
        self.left_out = [str(text)[:LINE] for text in failures[:FAILURES]]
        if is_function is not True:
            raise Stopped(Status.crashed, f"{self.name} is not a function after its cell has run.")

    def _exchange(self, frame: bytes, patience: float | None = None) -> bytes:
        """Send a frame and wait for the one that answers it, on the answer's own time."""
        start = looked = self._seen = time.monotonic()
        pause = TICK
        left = self.left if patience is None else patience
        if frame and select.select([self.answering], [], [], 0)[0]:
            self._receive(bytearray())  # whatever came unasked; that a process is ready comes so by right
        sending = self._send(memoryview(frame))
        got = bytearray()
        while len(got) < (size := _size(self.name, got)):
            if time.monotonic() - start > left:
                left += self._grant()
            if time.monotonic() - start > left:
                self._watch()  # on a busy machine, what has made it slow may not have been seen yet
                raise self._out_of_time()
            ready, free, _ = select.select([self.answering], [self.asking] if sending else [], [], TICK)
            if free:
                sending = self._send(sending)
            if ready:
                self._receive(got)
            if (begin := time.monotonic()) - looked > pause:  # also while it writes byte by byte
                room = self._watch()
                looked = time.monotonic()
                pause = min(max(TICK, (looked - begin) / LOOKING, room / FILLING), LONGEST_TICK)
        if patience is None:
            self.left = left - (time.monotonic() - start)
        return bytes(got[:size])  # what follows answers nothing

    def _send(self, frame: memoryview) -> memoryview:
        """What is left of a frame when as much of it is sent as the pipe takes now."""
        with suppress(BrokenPipeError, BlockingIOError):
            return frame[os.write(self.asking, frame[:PIPE]) :] if frame else frame
        return frame

    def _grant(self) -> float:
        """Seconds of waiting for the machine, by the answer or its judge, that were not granted yet."""
        more = max(min(self._waited(), self.box.patience * self.seconds) - self._granted, 0.0)
        self._granted += more
        return more

    def _waited(self) -> float:
        """Seconds in which the answer, or its judge, has waited for the machine: for a core or a disk."""
        return self.family.waiting() + waiting_of(os.getpid()) - self._own_waiting + self._on_disk

    def _out_of_time(self) -> Stopped:
        """Why the time is over: the answer has used it, has slept, or has waited for the machine."""
        ran = max(self.family.seconds() - self._starting, 0.0) + self._called
        stopped = any(member.info["status"] == psutil.STATUS_STOPPED for member in self.family.members())
        starved = self.ready and not stopped and is_starved(ran, self._waited() - self._granted, self.seconds)
        return out_of_time(self.name, self.seconds, ran, starved)

    def _receive(self, got: bytearray) -> None:
        part = os.read(self.answering, PIPE)
        if not part:
            raise self._ended()
        got += part

    def _watch(self) -> int:
        """Stop what no limit of the operating system covers: processes together, and one that went without
        a word. Returns the bytes that they may still take."""
        members = self.family.members()
        before = self._seen
        self._seen = time.monotonic()
        self._on_disk += (self._seen - before) * waits_for_disk(members)
        if len(members) > sandbox.PROCESSES:
            raise Stopped(Status.forbidden, f"{self.name} started more than {sandbox.PROCESSES} processes.")
        own = self._own_processes(members)
        if self.ready and memory.hidden_from_judge(members, own):
            raise Stopped(Status.forbidden, f"{self.name} hides its memory from its judge.")
        if (room := self.box.memory - memory.family_bytes(members, own, self.box.memory)) < 0:
            taken = f"{self.name} took more than {_with_unit(self.box.memory)} of memory."
            raise Stopped(Status.memory, taken)
        if self.process.poll() is not None and not select.select([self.answering], [], [], 0)[0]:
            raise self._ended()
        return room

    def _own_processes(self, members: list[psutil.Process]) -> set[int]:
        """Those of bubblewrap, which nobody may read: the one that was started, and its child."""
        first = self.process.pid
        own = {first, *(member.pid for member in members if member.info["ppid"] == first)}
        return own if self.box.name == "bubblewrap" else set()

    def _ended(self) -> Stopped:
        """Why the process is gone."""
        if (code := self._exit_status()) is None:
            return Stopped(Status.crashed, f"{self.name} closed the connection to its judge.")
        number = -code if code < 0 else code - 128  # bubblewrap says 128 + signal
        if number == signal.SIGXCPU:
            return Stopped(Status.timeout, TOO_SLOW.format(name=self.name, seconds=self.seconds))
        if number in (signal.SIGKILL, signal.SIGBUS):  # SIGBUS: a mapped file of a full file system
            limit = _with_unit(self.box.memory)
            why = f"took more than {limit} of memory" if self._group else "was killed: no memory is left"
            return Stopped(Status.memory, f"{self.name} {why}.")
        if number == signal.SIGSEGV:
            fault = f"{self.name} wrote to memory that is not its own (segmentation fault)."
            return Stopped(Status.crashed, fault)
        how = f"by {signal.Signals(number).name}" if number in _SIGNALS else f"exit code {code}"
        return Stopped(Status.crashed, f"{self.name} ended its own process ({how}) instead of returning.")

    def _exit_status(self) -> int | None:
        """The status that the process ends with; None if it lives on without its pipes. One that was killed
        takes a while to give gigabytes back."""
        for _ in range(ENDING):
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(1)
            members = self.family.members()
            own = self._own_processes(members)
            if any(memory.has_memory(member) for member in members if member.pid not in own):
                return None
        return None

    def _end(self) -> None:
        """End the whole family, so that the next answer is graded as if this one had never run."""
        gone = self.family.end()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        if self._group is not None:
            control_group.give_back(self._group, *self.box.group_limits)
        if not gone:
            message = f"Processes that {self.name} started could not be ended; look at this machine."
            warnings.warn(message, stacklevel=2)


def _with_unit(size: int) -> str:
    return f"{size >> 20} MiB" if size % (1 << 30) else f"{size >> 30} GiB"


def _remove(folder: str) -> None:
    """Remove it, however deep and locked an answer has left it; what not even root may remove stays."""
    subprocess.run(["sh", "-c", 'chmod -R u+rwx "$0"; rm -rf "$0"', folder], stderr=subprocess.DEVNULL)


def _size(name: str, got: bytearray) -> int:
    """Bytes of a frame that has begun. Its sizes are held against their caps before the rest is read."""
    try:
        return wire.LENGTHS.size + (sum(wire.lengths(got)) if len(got) >= wire.LENGTHS.size else 0)
    except wire.TooBig as error:
        raise Stopped(Status.too_big, TOO_BIG.format(name=name, what=error)) from None


_SIGNALS = {number.value for number in signal.Signals}
