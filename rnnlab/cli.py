"""The `rnnlab` command. Each part of the package adds its subcommands."""

import argparse
import sys
from importlib import import_module

import rnnlab

PARTS = ("rnnlab.machine.commands", "rnnlab.grading.commands", "rnnlab.bench.commands")


def parser() -> argparse.ArgumentParser:
    """All subcommands; each one's handler stands in its `run`."""
    command = argparse.ArgumentParser(
        "rnnlab", description=rnnlab.__doc__.partition("\n")[0].partition(": ")[2]
    )
    command.add_argument("--version", action="version", version=f"rnnlab {rnnlab.__version__}")
    subparsers = command.add_subparsers(metavar="COMMAND", required=True, dest="command")
    for part in PARTS:
        import_module(part).add_commands(subparsers)
    return command


def main(arguments: list[str] | None = None) -> int:
    """Run one command; its exit status, or 2 where files could not be read or written."""
    chosen = parser().parse_args(arguments)
    try:
        return chosen.run(chosen) or 0
    except OSError as error:
        print(f"rnnlab {chosen.command}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130  # what a shell reports for Ctrl-C


if __name__ == "__main__":
    sys.exit(main())
