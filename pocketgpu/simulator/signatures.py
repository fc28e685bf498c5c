"""Types of a kernel's scalar arguments, as cuda.jit("void(float32[:], int32)") declares them."""

import re
from collections.abc import Callable

import numpy as np

from pocketgpu.simulator.arithmetic import Conversion

SCALAR = re.compile(r"(u?int(?:8|16|32|64))|(float(?:16|32|64))|bool(?:ean)?")
COMMA = re.compile(r",\s*(?![^([]*[)\]])")  # outside all brackets


def scalar_types(signature: object) -> list[Callable | None]:
    """A conversion for each argument declared as one number; empty where there is a choice of types."""
    if isinstance(signature, list):
        return scalar_types(signature[0]) if len(signature) == 1 else []
    if isinstance(signature, tuple):
        return [_conversion(str(kind)) for kind in signature]
    declared = re.search(r"\((.*)\)", str(signature or ""))
    return [_conversion(part.strip()) for part in COMMA.split(declared[1])] if declared else []


def as_declared(arguments: tuple, types: list[Callable | None]) -> tuple:
    """The arguments with their numbers in the declared types."""
    if not any(types):
        return arguments
    conversions = [*types, *[None] * len(arguments)]
    return tuple(
        convert(argument) if convert and isinstance(argument, int | float | np.number) else argument
        for convert, argument in zip(conversions, arguments, strict=False)
    )


def _conversion(name: str) -> Callable | None:
    scalar = SCALAR.fullmatch(name)
    if not scalar:
        return None
    whole, fraction = scalar.groups()
    if whole:
        return Conversion(getattr(np, whole))
    return getattr(np, fraction) if fraction else bool
