"""What ends a program on simulated ranks."""


class RankError(RuntimeError):
    """Failure of simulated ranks, in a sentence that names the rank."""


class Deadlock(RankError):
    """Every rank that is left waits for another one."""


class RankLost(RankError):
    """Loss of a rank that the others wait for."""


class RankEnded(BaseException):
    """Raised in a rank whose run is over while it waits."""
