"""Every command says what it does without loading what it needs, and reports trouble in a sentence."""

import argparse
import errno
import re

import pytest
from test_imports import SLOW, loaded_by
from values_in import holds

from nbjudge.authoring.course import ROOT
from nbjudge.grading import learner
from rnncourse import cli

COMMANDS = next(a for a in cli.parser()._actions if isinstance(a, argparse._SubParsersAction)).choices


def test_the_commands_of_this_course_are_there():
    assert {"lab", "doctor", "grade", "progress"} <= {*COMMANDS}


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_answered_without_loading_anything_slow(command):
    ask = (
        f"from rnncourse.cli import main\ntry: main({[*command.split(), '--help']})\nexcept SystemExit: pass"
    )
    assert not loaded_by(ask) & (SLOW - {"numpy"})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_handler_and_says_what_it_does(command):
    assert callable(COMMANDS[command].get_default("handler"))
    assert re.search(rf"^    {command} +\w", cli.parser().format_help(), re.M)


@pytest.fixture
def act(monkeypatch):
    """Run a command that returns this value or raises this error; the exit status."""

    def run(result):
        def handler(arguments):
            if isinstance(result, Exception):
                raise result
            return result

        class Part:
            @staticmethod
            def add_commands(subparsers):
                subparsers.add_parser("act").set_defaults(handler=handler)

        monkeypatch.setattr(cli, "PARTS", ("a part",))
        monkeypatch.setattr(cli, "import_module", lambda module: Part)
        return cli.main(["act"])

    return run


def test_the_handlers_answer_is_the_exit_status(act):
    assert [act(answer) for answer in (None, 0, 1)] == [0, 0, 1]


def test_a_file_that_cannot_be_written_is_reported_in_a_sentence(act, capsys):
    assert act(OSError(errno.ENOSPC, "cannot make your copy: free some space")) == 2
    assert capsys.readouterr().err == "rnnlab act: cannot make your copy: free some space\n"


def test_a_file_in_the_way_is_named(tmp_path, capsys):
    (tmp_path / "thesis").write_text("mine")
    assert cli.main(["start", str(tmp_path / "thesis/course")]) == 2
    assert holds(capsys.readouterr().err, str(tmp_path / "thesis"))


def test_no_command_is_an_error_that_lists_the_commands(capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main([])
    error = capsys.readouterr().err
    assert "COMMAND" in error
    assert "grade a notebook" in error


def parsers(parser):
    """A parser and all below it."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers(child)


def test_no_option_takes_the_place_of_the_handler():
    for parser in parsers(cli.parser()):
        assert not {"handler"} & {action.dest for action in parser._actions}


@pytest.mark.parametrize(
    "arguments", [["grade", "--plane"], ["bench", "cpu", "--quik"], ["record", "show", "x", "-q"]]
)
def test_a_misspelt_option_shows_the_usage_of_its_subcommand(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(arguments)
    words = [word for word in arguments if word[0] != "-" and word != "x"]
    assert capsys.readouterr().err.startswith(f"usage: rnnlab {' '.join(words)} ")


def test_grade_says_what_a_notebook_is():
    assert re.search(r"^  notebook +\w", COMMANDS["grade"].format_help(), re.M)


@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_of_a_command_is_one_sentence_and_status_3(act, monkeypatch, capsys, debug):
    monkeypatch.setenv("RNNLAB_DEBUG", "1" if debug else "")
    assert act(RuntimeError("a slip")) == 3
    error = capsys.readouterr().err
    assert ("Traceback" in error) == debug
    assert holds(error.splitlines()[-1], "RuntimeError")


def test_packages_of_another_system_are_named_with_the_variable_that_brings_them(act, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", "/opt/ros")
    assert act(ImportError("numpy was built for another Python\nand more lines")) == 3
    assert capsys.readouterr().err.endswith("unset PYTHONPATH\n")


@pytest.mark.parametrize(
    ("command", "meant"),
    [("grad x", "grade"), ("progres", "progress"), ("class colect", "collect"), ("zzz", None)],
)
def test_the_nearest_command_is_offered(command, meant, capsys):
    with pytest.raises(SystemExit):
        cli.main(command.split())
    assert re.findall(r"did you mean ([\w-]+)\?", capsys.readouterr().err) == [meant] * bool(meant)


def test_hints_are_opened_one_by_one_by_an_exercises_name(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    monkeypatch.setattr(learner, "_hints", {})
    shown = []
    for _ in range(4):
        assert cli.main(["hint", "bptt_linear"]) == 0
        shown.append(capsys.readouterr().out)
    assert [text[:11] for text in shown] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Hint 3 of 3"]
    assert cli.main(["hint", "bptt_liner"]) == 2
    assert "bptt_linear" in capsys.readouterr().err


def test_grading_the_lesson_itself_names_the_notebook_with_the_answers(capsys):
    assert cli.main(["grade", str(ROOT / "notebooks/02_bptt.ipynb")]) == 2
    assert str(ROOT / "work/02_bptt.ipynb") in capsys.readouterr().err
