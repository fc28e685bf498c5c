"""Loads and stores with a cache hint: one PTX instruction each, which Numba's own CUDA target lacks.

ld.global.cg.f32 value, [address];
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from llvmlite import ir
from numba import cuda as numba_cuda
from numba.core import types
from numba.cuda.extending import intrinsic

from pocketgpu.compiling.target import cgutils

LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
STORES = ("stcg", "stcs", "stwb", "stwt")
POINTER = "l"
REGISTERS = {"f32": "f", "f64": "d", "b32": "r", "b64": "l"}  # constraints of inline assembly


def _operand(kind: types.Type) -> str:
    """Its type in PTX.  Raises TypeError for what PTX cannot load in one word here."""
    if isinstance(kind, types.Float | types.Integer) and kind.bitwidth in (32, 64):
        return f"{'f' if isinstance(kind, types.Float) else 'b'}{kind.bitwidth}"
    raise TypeError(f"a cache hint works on 4 or 8 bytes, not on {kind}")


def _pointer(context, builder, array_type, array, index_type, index) -> ir.Value:
    is_one = isinstance(index_type, types.Integer)
    indices = [index] if is_one else cgutils.unpack_tuple(builder, index)
    kinds = [index_type] if is_one else index_type.types
    indices = [context.cast(builder, *pair, types.intp) for pair in zip(indices, kinds, strict=True)]
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, indices, wraparound=False)


def load_function(instruction: str) -> Callable:
    """A kernel's function(array, index) that is this PTX load, such as ld.cg, done each time and in order."""

    def load(typing_context, array, index):
        ptx = _operand(array.dtype)

        def code(context, builder, signature, arguments):
            pointer = _pointer(context, builder, array, arguments[0], index, arguments[1])
            kind = ir.FunctionType(context.get_value_type(array.dtype), [pointer.type])
            text = f"{instruction}.{ptx} $0, [$1];"
            constraint = f"={REGISTERS[ptx]},{POINTER},~{{memory}}"
            return builder.call(ir.InlineAsm(kind, text, constraint, side_effect=True), [pointer])

        return array.dtype(array, index), code

    return intrinsic(load)


def _store_function(instruction: str) -> Callable:
    def store(typing_context, array, index, value):
        ptx = _operand(array.dtype)

        def code(context, builder, signature, arguments):
            pointer = _pointer(context, builder, array, arguments[0], index, arguments[1])
            stored = context.cast(builder, arguments[2], value, array.dtype)
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, stored.type])
            text = f"{instruction}.{ptx} [$0], $1;"
            constraint = f"{POINTER},{REGISTERS[ptx]},~{{memory}}"
            builder.call(ir.InlineAsm(kind, text, constraint, side_effect=True), [pointer, stored])
            return context.get_dummy_value()

        return types.void(array, index, value), code

    return intrinsic(store)


FUNCTIONS = {name: load_function(f"ld.{name[2:]}") for name in LOADS}
FUNCTIONS |= {name: _store_function(f"st.{name[2:]}") for name in STORES}


@contextmanager
def missing_functions() -> Iterator[None]:
    """Inside, numba.cuda has all of them."""
    added = [name for name in FUNCTIONS if not hasattr(numba_cuda, name)]
    for name in added:
        setattr(numba_cuda, name, FUNCTIONS[name])
    try:
        yield
    finally:
        for name in added:
            delattr(numba_cuda, name)
