"""The simulated GPU's clock: launches one after another, each as long as a model of the device makes it.

A launch takes the host's time to issue it, the device's to begin it, and its sectors' way over the memory
bus; the numbers are the data sheet's.  Nothing is counted without checks: then the first two are all.  This
is a prediction, like the timeline model's of a plan; what Python takes says nothing about a GPU.
"""

from rnnlab.devices import Device

SECTOR = 32  # bytes
_microseconds = 0.0


def advance(device: Device, sectors: int = 0) -> None:
    """Let a launch that moved so many sectors go by."""
    global _microseconds
    _microseconds += device.launch + device.node + 1e-3 * SECTOR * sectors / device.bandwidth


def now() -> float:
    """Microseconds since the simulator was loaded."""
    return _microseconds
