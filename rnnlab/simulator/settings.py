"""How launches run: watched or not, in which order, on which device."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from rnnlab.devices import Device, find


@dataclass(frozen=True)
class Settings:
    """What holds for every launch until it is changed."""

    checks: bool = True  # write every access down, and look for faults in it
    raise_findings: bool = True  # a launch with findings raises Findings when it has ended
    strict: bool = False  # refuse to launch what would not compile on a GPU or creeps into float64
    shuffle: bool = False  # threads start, and go on after barriers, in random order
    seed: int = 0  # of that order
    device: str = "H200"  # a key of devices.DEVICES

    @property
    def sheet(self) -> Device:
        """That device's data sheet."""
        return find(self.device)


DEFAULTS = Settings()
_current: ContextVar[Settings] = ContextVar("settings", default=DEFAULTS)


def current() -> Settings:
    """The settings that hold here."""
    return _current.get()


@contextmanager
def settings(**changes: object) -> Iterator[Settings]:
    """Launches inside the block run with these changes; see Settings."""
    changed = replace(_current.get(), **changes)
    find(changed.device)  # raises ValueError now, not at the first launch
    token = _current.set(changed)
    try:
        yield changed
    finally:
        _current.reset(token)
