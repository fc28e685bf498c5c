"""Returns an object that runs a program in whoever unpickles it.

deserves: failed
"""

import os


class Bomb:
    """Its pickle is a command."""

    def __reduce__(self):
        return os.system, ("touch @HOME@/unpickled",)


def running_sum(x):
    return Bomb()
