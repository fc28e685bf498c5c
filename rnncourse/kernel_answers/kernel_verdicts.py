"""Verdicts on an answer that is not a kernel of a GPU, and on constants beside a kernel."""

import numpy as np

from nbjudge.verdict import Status, Stopped

MOST_BYTES = 1 << 20  # of an array beside a kernel: constant memory has 64 KiB
OF_PYTHON = (bool, int, float, type(None))
PASS_IT = "pass it to the kernel as an argument"


def more_than_computing(sentence: str, next_step: str | None = None) -> Stopped:
    """The verdict on text that a kernel may not hold."""
    return Stopped(Status.forbidden, f"A kernel may only compute: {sentence}.", next_step)


def not_for_a_gpu(sentence: str, next_step: str) -> Stopped:
    """The verdict on what no GPU runs, and what to do instead."""
    return Stopped(Status.failed, f"This is not a kernel for a GPU: {sentence}.", next_step)


def plain_function(name: str) -> Stopped:
    """The verdict on a function without cuda.jit."""
    message = f"{name} is a plain function, and a kernel is expected."
    return Stopped(Status.failed, message, "write @cuda.jit above its def")


def refuse_no_constant(what: str, value: object) -> None:
    """Raises Stopped unless the value is a number, a tuple of numbers or an array of numbers."""
    owner, blank, _ = what.partition(" ")
    is_default = bool(blank)
    place = f"a default value of {owner}" if is_default else what
    is_array = isinstance(value, np.ndarray)
    if type(value) is tuple:
        for part in value:
            refuse_no_constant(what, part)
    elif is_array and not is_default:
        if value.nbytes > MOST_BYTES:
            message = f"{place} has {value.nbytes} bytes; an array beside a kernel has at most {MOST_BYTES}."
            raise Stopped(Status.too_big, message, PASS_IT)
    elif type(value) not in OF_PYTHON and not isinstance(value, np.generic):
        kind = "an array" if is_array else f"a {type(value).__name__}"
        sentence = f"{place} is {kind}; constants are numbers and tuples of them"
        raise not_for_a_gpu(sentence, PASS_IT)
