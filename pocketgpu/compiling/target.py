"""Numba's CUDA target as it is installed: the built-in one, or the package numba-cuda, which takes its place.

numba-cuda imports under the same name, numba.cuda, but carries copies of Numba's compiler and intermediate
representation, and what is made with the one means nothing to the other.  Types are the same objects in both.
Everything here that looks into a compiler takes its parts from this module.
"""

from importlib import import_module
from importlib.util import find_spec

IS_NUMBA_CUDA = find_spec("numba.cuda.core") is not None
_core = "numba.cuda.core" if IS_NUMBA_CUDA else "numba.core"
_compiler = import_module("numba.cuda.compiler" if IS_NUMBA_CUDA else "numba.core.compiler")
_machinery = import_module(f"{_core}.compiler_machinery")
_errors = import_module(f"{_core}.errors")

ir = import_module(f"{_core}.ir")
cgutils = import_module("numba.cuda.cgutils" if IS_NUMBA_CUDA else "numba.core.cgutils")
CompilerBase = _compiler.CompilerBase
DefaultPassBuilder = _compiler.DefaultPassBuilder
compile_extra = _compiler.compile_extra
AnalysisPass = _machinery.AnalysisPass
register_pass = _machinery.register_pass
NopythonTypeInference = import_module(f"{_core}.typed_passes").NopythonTypeInference
NumbaWarning = _errors.NumbaWarning
UnsupportedError = _errors.UnsupportedError
UnsupportedBytecodeError = _errors.UnsupportedBytecodeError
StateDict = import_module(f"{_core}.compiler").StateDict
