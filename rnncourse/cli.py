"""The `rnnlab` command. Each part of the package adds its subcommands.

Exit status: what the command says; 2 where its input cannot be used; 3 where rnnlab itself is at fault, with
one sentence. RNNLAB_DEBUG=1 shows the traceback. No fault of rnnlab looks like a failing student, who gets 1.
"""

import os
import sys

# before the working directory is forgotten: it may be the clone that they lie in
import nbjudge  # noqa: F401
import pocketgpu  # noqa: F401
import ranks  # noqa: F401
import rnnlab


def forget_working_directory() -> None:
    """Import nothing from where the command is given: a json.py may lie beside a submission."""
    try:
        working_directory = os.getcwd()
    except OSError:  # the folder was removed: nothing can be imported from it
        working_directory = ""
    sys.path[:] = [folder for folder in sys.path if folder not in ("", ".", working_directory)]


if __name__ == "__main__":  # `python -m` has put the working directory first
    forget_working_directory()

import argparse
import re
import traceback
import warnings
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from nbjudge.course import choose
from nbjudge.printable import printable
from rnncourse.remedies import Refusal, pip_install

BENCHMARKS = "bench.commands"
PARTS = (
    "rnncourse.lab.commands",
    "nbjudge.grading.commands",
    "nbjudge.classroom.commands",
    "rnncourse.scaling.commands",
    "rnncourse.capstone.commands",
    BENCHMARKS,
)
BENCH = Path(rnnlab.__file__).parents[1] / "bench"  # beside the package in the course's folder, in no wheel
UNUSABLE = 2
OWN_FAULT = 3
INTERRUPTED = 130  # 130: what a shell reports for Ctrl-C


class Parser(argparse.ArgumentParser):
    """A parser whose errors show the usage of the subcommand that they belong to."""

    def parse_known_args(self, args: list | None = None, namespace: object = None) -> tuple:
        """The options; an error where one is unknown to this subcommand."""
        chosen, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return chosen, unknown

    def error(self, message: str) -> None:
        """Usage and message; a file's name in it may hold escape sequences."""
        super().error(printable(f"{message}{_suggestion(message)}"))


def _suggestion(message: str) -> str:
    """ "; did you mean grade?" behind a message of argparse about an unknown choice."""
    match = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
    near = get_close_matches(match[1], re.findall(r"[\w-]+", match[2]), 1, 0.6) if match else []
    return f"; did you mean {near[0]}?" if near else ""


def parser() -> Parser:
    """All subcommands; the function that runs one stands in its `handler`."""
    command = Parser("rnnlab", description=rnnlab.__doc__.partition("\n")[0].partition(": ")[2])
    command.add_argument("--version", action="version", version=f"rnnlab {rnnlab.__version__}")
    subparsers = command.add_subparsers(metavar="COMMAND", dest="command")
    for part in PARTS:
        if part != BENCHMARKS or _found_benchmarks():
            import_module(part).add_commands(subparsers)
        else:
            _add_absent(subparsers)
    return command


def _found_benchmarks() -> bool:
    """Whether bench/ lies beside the package; then `import bench` finds it, whatever else has that name."""
    init = BENCH / "__init__.py"
    if init.is_file() and "bench" not in sys.modules:
        spec = spec_from_file_location("bench", init, submodule_search_locations=[str(BENCH)])
        sys.modules["bench"] = module_from_spec(spec)
    return init.is_file()


def _add_absent(subparsers: argparse._SubParsersAction) -> None:
    """The benchmarks' commands where the package was installed alone: they say what is missing."""
    for name in ("bench", "record", "gpu-day"):
        absent = subparsers.add_parser(name, help="measurements: only in the course's folder")
        absent.add_argument("options", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
        absent.set_defaults(handler=_no_benchmarks)


def _no_benchmarks(chosen: argparse.Namespace) -> None:
    sentence = "the benchmark programs lie in the folder bench/ of the course, which this installation lacks"
    raise Refusal(f"{sentence}: clone the course and run it there")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; its exit status."""
    if arguments is None:  # in a process of its own
        forget_working_directory()
        warnings.formatwarning = lambda message, *where: f"rnnlab: {printable(message)}\n"
    choose("rnncourse.course:COURSE")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a screen that knows no ✔ shows its escape
            stream.reconfigure(errors="backslashreplace")
    name = "rnnlab"
    try:
        chosen = _parsed(arguments)
        name = f"rnnlab {chosen.command}"
        status = chosen.handler(chosen) or 0
        if sys.stdout:
            sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except Refusal as error:
        return _report(name, error, str(error), UNUSABLE)
    except OSError as error:
        _drop_output()
        sentence = error.strerror or str(error)
        if error.filename is not None and error.strerror:
            sentence = f"{error.filename}: {sentence}"
        return _report(name, error, sentence, UNUSABLE)
    except Exception as error:
        return _report(name, error, _own_fault(error), OWN_FAULT)


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The chosen command; without one the help, which is an error to a script."""
    command = parser()
    chosen = command.parse_args(arguments)
    if not hasattr(chosen, "handler"):
        command.print_help(sys.stderr)
        raise SystemExit(UNUSABLE)
    return chosen


def _own_fault(error: Exception) -> str:
    """Sentence for an error that no input caused: a missing or broken package, or a fault of rnnlab."""
    first_line = str(error).strip().partition("\n")[0]
    if isinstance(error, ModuleNotFoundError):
        return f"the package {error.name} is missing: {pip_install('rnnlab[lab]')}"
    foreign = [variable for variable in ("PYTHONPATH", "PYTHONHOME") if os.environ.get(variable)]
    if isinstance(error, ImportError) and foreign:
        remedy = f"{foreign[0]} brings packages of another system before the course's: unset {foreign[0]}"
        return f"{first_line}. {remedy}"
    sentence = f"a fault of rnnlab, not of your input ({type(error).__name__}: {first_line})"
    return f"{sentence}; RNNLAB_DEBUG=1 shows where. Please report it."


def _report(name: str, error: Exception, sentence: str, status: int) -> int:
    if os.environ.get("RNNLAB_DEBUG"):
        traceback.print_exception(error)
    print(f"{name}: {printable(sentence)}", file=sys.stderr)
    return status


def _drop_output() -> None:
    """Where standard output is full or nobody reads it: let the interpreter not try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, ValueError):
        return  # no standard output, or a closed one


if __name__ == "__main__":
    sys.exit(main())
