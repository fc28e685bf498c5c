"""Every command says what it does without loading what it needs, and reports trouble in a sentence."""

import argparse
import errno
import re

import pytest
from test_imports import SLOW, loaded_by

from rnnlab import cli

COMMANDS = next(a for a in cli.parser()._actions if isinstance(a, argparse._SubParsersAction)).choices


def test_the_commands_of_this_course_are_there():
    assert {"lab", "doctor", "grade", "progress"} <= {*COMMANDS}


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_answered_without_loading_anything_slow(command):
    ask = f"from rnnlab.cli import main\ntry: main({[*command.split(), '--help']})\nexcept SystemExit: pass"
    assert not loaded_by(ask) & (SLOW - {"numpy"})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_handler_and_says_what_it_does(command):
    assert callable(COMMANDS[command].get_default("handler"))
    assert re.search(rf"^    {command} +\w", cli.parser().format_help(), re.M)


def part(handler):
    """A stand-in for a part of the package that adds one command."""

    class Part:
        @staticmethod
        def add_commands(subparsers):
            subparsers.add_parser("act").set_defaults(handler=handler)

    return lambda module: Part


def test_the_handlers_answer_is_the_exit_status(monkeypatch):
    monkeypatch.setattr(cli, "PARTS", ("a part",))
    for answer, status in [(None, 0), (0, 0), (1, 1)]:
        monkeypatch.setattr(cli, "import_module", part(lambda arguments, answer=answer: answer))
        assert cli.main(["act"]) == status


def test_a_file_that_cannot_be_written_is_reported_in_a_sentence(monkeypatch, capsys):
    def full(arguments):
        raise OSError(errno.ENOSPC, "cannot make your copy: free some space")

    monkeypatch.setattr(cli, "PARTS", ("a part",))
    monkeypatch.setattr(cli, "import_module", part(full))
    assert cli.main(["act"]) == 2
    assert capsys.readouterr().err == "rnnlab act: cannot make your copy: free some space\n"


def test_no_command_is_an_error_that_lists_the_commands(capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main([])
    assert "COMMAND" in capsys.readouterr().err
