"""What a submission's folder, its notebook's file, the options and the progress file may hold.

Each function gets an empty folder, puts there what it is about, and returns the arguments of `rnnlab`; each
row of BESIDE lays one file beside a right answer. The outcome is `refused` where none stands there.
"""

import json
import os
import shutil
import sqlite3
import subprocess

RIGHT = "def last_step(y):\n    return y[-1].copy()\n"
NAME = "00_start_here.ipynb"
MARK = "open('ran', 'w').close()\n"  # what a file would do that the judge must not run
ONLY = ("--only", "last_step", "--seed", "1")
LIBRARY = '#include <stdio.h>\n__attribute__((constructor)) void go(void) { fclose(fopen("ran", "w")); }\n'

BESIDE = (  # name, deed, the file, what is in it
    ("settings_of_numba_without_compiler", "Has Numba run without its compiler, so that nothing ends.", ".numba_config.yaml", "DISABLE_JIT: 1\n"),
    ("settings_of_numba_that_are_broken", "Lays invalid YAML where Numba looks for its settings.", ".numba_config.yaml", ": no YAML ["),
    ("settings_of_matplotlib_that_are_broken", "Lays a file that is not UTF-8 where Matplotlib looks for its settings.", "matplotlibrc", b"\xff\xfe"),
    ("settings_of_ipython", "Lays a program where IPython looks for its settings.", "ipython_config.py", MARK),
    ("settings_of_jupyter", "Lays a program where Jupyter looks for its settings.", "jupyter_config.py", MARK),
    ("settings_of_pip", "Lays settings of pip beside the notebook.", "pip.conf", "[global]\nindex-url = file:///nowhere\n"),
    ("settings_of_a_virtual_environment", "Lays the settings of a virtual environment beside the notebook.", "pyvenv.cfg", "home = /nowhere\n"),
    ("settings_of_an_environment_file", "Lays a file of environment variables beside the notebook.", ".env", "RNNLAB_HOME=/nowhere\nNUMBA_DISABLE_JIT=1\n"),
    ("a_path_file", "Lays a .pth file beside the notebook, which site would run.", "evil.pth", "import os; " + MARK),
    ("a_module_called_sitecustomize", "Lays a sitecustomize.py beside the notebook, a name that Python imports by itself.", "sitecustomize.py", MARK),
    ("a_module_called_usercustomize", "Lays a usercustomize.py beside the notebook, a name that Python imports by itself.", "usercustomize.py", MARK),
    ("a_module_called_numpy", "Lays a numpy.py beside the notebook, a name that the judge imports.", "numpy.py", MARK),
    ("a_module_called_json", "Lays a json.py beside the notebook, a name that the judge imports.", "json.py", MARK),
    ("a_module_called_psutil", "Lays a psutil.py beside the notebook, a name that the judge imports.", "psutil.py", MARK),
    ("a_module_called_numba", "Lays a numba.py beside the notebook, a name that the judge imports.", "numba.py", MARK),
    ("a_package_called_rnnlab", "Lays a package of the course's name beside the notebook.", "rnnlab/__init__.py", MARK),
)


def _notebook(folder, *sources, name=NAME):
    """The arguments that grade a notebook with these cells."""
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources or (RIGHT,)]
    (folder / name).write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    return ["grade", name, *ONLY]


def _beside(folder, name, text=MARK):
    """The same, with another file in the folder."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return _notebook(folder)


def _progress(folder, statement):
    """A progress file that one statement has changed."""
    (folder / "home").mkdir()
    with sqlite3.connect(folder / "home" / "progress.sqlite") as file:
        file.execute(
            "CREATE TABLE verdicts (name TEXT PRIMARY KEY, unit TEXT, status TEXT, misconception TEXT, "
            "passed INTEGER, points INTEGER, tries INTEGER)"
        )
        file.execute(statement)


def settings_of_numba_with_a_library(folder):
    """Has Numba load a shared library as the driver of the GPU.

    outcome: 1 of 1 points
    """
    (folder / "driver.c").write_text(LIBRARY)
    if shutil.which("cc"):
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "driver.so", "driver.c"], cwd=folder, check=True)
    return _beside(folder, ".numba_config.yaml", "CUDA_DRIVER: ./driver.so\n")


def a_program_called_bwrap(folder):
    """Lays a program of bubblewrap's name beside the notebook.

    outcome: 1 of 1 points
    """
    arguments = _beside(folder, "bwrap", "#!/bin/sh\ntouch ran\n")
    (folder / "bwrap").chmod(0o755)
    return arguments


def a_report_on_a_device(folder):
    """Has the report replace /dev/null."""
    return [*_notebook(folder), "--json", "/dev/null"]


def a_report_on_a_pipe(folder):
    """Has the report replace a named pipe."""
    os.mkfifo(folder / "out")
    return [*_notebook(folder), "--json", "out"]


def a_report_on_a_link(folder):
    """Has the report replace a link, or what it points to."""
    (folder / "out").symlink_to("target")
    return [*_notebook(folder), "--json", "out"]


def a_report_on_a_folder(folder):
    """Has the report replace a folder."""
    (folder / "out").mkdir()
    return [*_notebook(folder), "--json", "out"]


def a_report_on_the_notebook(folder):
    """Has the report replace the notebook."""
    return [*_notebook(folder), "--json", NAME]


def a_report_into_no_folder(folder):
    """Asks for a report in a folder that does not exist."""
    return [*_notebook(folder), "--json", "none/out"]


def a_pipe_as_notebook(folder):
    """Hands in a named pipe that nobody writes to."""
    os.mkfifo(folder / NAME)
    return ["grade", NAME, *ONLY]


def a_device_as_notebook(folder):
    """Hands in a device."""
    return ["grade", "/dev/zero", *ONLY]


def a_link_to_endless_zeros(folder):
    """Hands in a link to /dev/zero."""
    (folder / NAME).symlink_to("/dev/zero")
    return ["grade", NAME, *ONLY]


def a_link_to_itself(folder):
    """Hands in a link to itself."""
    (folder / NAME).symlink_to(NAME)
    return ["grade", NAME, *ONLY]


def a_folder_as_notebook(folder):
    """Hands in a folder."""
    (folder / NAME).mkdir()
    return ["grade", NAME, *ONLY]


def a_gigabyte_as_notebook(folder):
    """Hands in a file of a gigabyte."""
    with open(folder / NAME, "wb") as file:
        file.truncate(1 << 30)
    return ["grade", NAME, *ONLY]


def a_notebook_that_is_not_utf_8(folder):
    """Hands in bytes that are not text."""
    (folder / NAME).write_bytes(b"\xff\xfe{")
    return ["grade", NAME, *ONLY]


def a_notebook_nested_without_end(folder):
    """Hands in lists within lists, a hundred thousand deep."""
    (folder / NAME).write_text("[" * 100_000)
    return ["grade", NAME, *ONLY]


def an_old_notebook_without_cells(folder):
    """Hands in the format of ten years ago with nothing where the cells should be.

    outcome: 0 of 1 points
    """
    (folder / NAME).write_text(json.dumps({"worksheets": [{"cells": None}, 5], "nbformat": 3}))
    return ["grade", NAME, *ONLY]


def a_name_with_escapes(folder):
    """Hands in a file whose name moves the cursor."""
    return ["grade", "\x1b[2Aevil.ipynb", *ONLY]


def a_seed_below_zero(folder):
    """Asks for a seed below zero."""
    return [*_notebook(folder), "--seed=-1"]


def a_seed_too_large(folder):
    """Asks for a seed of thirty digits."""
    return [*_notebook(folder), "--seed", "9" * 30]


def an_exercise_of_another_lesson(folder):
    """Asks for an exercise that the lesson does not have."""
    return [*_notebook(folder), "--only", "saxpy_kernel"]


def a_megabyte_of_source(folder):
    """Is right, and its cell holds three megabytes of text.

    outcome: 1 of 1 points
    """
    return _notebook(folder, f"DATA = {'x' * 3_000_000!r}\n{RIGHT}")


def ten_thousand_statements(folder):
    """Is right, below ten thousand statements of the same cell.

    outcome: 1 of 1 points
    """
    return _notebook(folder, "\n".join([*(f"x{n} = {n}" for n in range(10_000)), RIGHT]))


def a_lone_surrogate_in_its_source(folder):
    """Is right, and has half an emoji in a comment.

    outcome: 1 of 1 points
    """
    return _notebook(folder, f"# \ud83d\n{RIGHT}")


def a_lone_surrogate_in_an_exception(folder):
    """Raises an exception with half a character.

    outcome: 0 of 1 points
    """
    return _notebook(folder, "def last_step(y):\n    raise ValueError('\\ud800')")


def escapes_in_the_name_of_a_class(folder):
    """Raises an exception whose class has a name that moves the cursor.

    outcome: 0 of 1 points
    """
    return _notebook(folder, "def last_step(y):\n    raise type('\\x1b[2A', (Exception,), {})")


def escapes_in_a_line_that_fails(folder):
    """Fails in a line that holds escapes and text from right to left.

    outcome: 0 of 1 points
    """
    return _notebook(folder, "def last_step(y):\n    return 1 / 0  # \x1b[2A\u202e")


def a_progress_file_of_rubbish(folder):
    """Keeps its progress in a file that is not a database.

    outcome: 0 of all points
    """
    (folder / "home").mkdir()
    (folder / "home" / "progress.sqlite").write_bytes(b"rubbish" * 999)
    return ["progress"]


def a_progress_file_with_odd_rows(folder):
    """Has texts and nothing in the progress file where numbers belong.

    outcome: 0 of all points
    """
    _progress(folder, "INSERT INTO verdicts VALUES ('last_step', NULL, 7, NULL, 'x', 'many', NULL)")
    return ["progress"]


def a_progress_file_with_odd_names(folder):
    """Has bytes in the progress file where the names of exercises belong.

    outcome: 0 of all points
    """
    _progress(folder, "INSERT INTO verdicts VALUES (x'ff00', 'start_here', 'passed', NULL, 1, 99, 1)")
    return ["progress"]


def a_progress_file_of_the_future(folder):
    """Has a progress file that a later version wrote.

    outcome: 1 of 1 points
    """
    _progress(folder, "PRAGMA user_version = 99")
    return ["check", *_notebook(folder)[1:]]


def a_home_that_is_a_file(folder):
    """Has a file where the progress file's folder should be.

    outcome: 1 of 1 points
    """
    (folder / "home").write_text("x")
    return ["check", *_notebook(folder)[1:]]


def _case(deed, name, text):
    """The function of one row of BESIDE."""

    def case(folder):
        return _beside(folder, name, text)

    case.__doc__ = f"{deed}\n\noutcome: 1 of 1 points"
    return case


globals().update({name: _case(deed, file, text) for name, deed, file, text in BESIDE})
