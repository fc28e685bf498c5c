"""Attacks that are no answers: what a submission's folder, its notebook's file, the options and the progress
file may hold.

Each function gets an empty folder, puts there what it is about, and returns the arguments of `rnnlab`; each
row of BESIDE lays one file beside a right answer. The outcome is what must happen in
both modes: `refused` where none stands there.
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
    (
        "settings_of_numba_without_compiler",
        "Has Numba run without its compiler, so that nothing ends.",
        ".numba_config.yaml",
        "DISABLE_JIT: 1\n",
    ),
    (
        "settings_of_numba_that_are_broken",
        "Lays invalid YAML where Numba looks for its settings.",
        ".numba_config.yaml",
        ": no YAML [",
    ),
    (
        "settings_of_matplotlib_that_are_broken",
        "Lays a file that is not UTF-8 where Matplotlib looks for its settings.",
        "matplotlibrc",
        b"\xff\xfe",
    ),
    (
        "settings_of_ipython",
        "Lays a program where IPython looks for its settings.",
        "ipython_config.py",
        MARK,
    ),
    (
        "settings_of_jupyter",
        "Lays a program where Jupyter looks for its settings.",
        "jupyter_config.py",
        MARK,
    ),
    (
        "settings_of_pip",
        "Lays settings of pip beside the notebook.",
        "pip.conf",
        "[global]\nindex-url = file:///nowhere\n",
    ),
    (
        "settings_of_a_virtual_environment",
        "Lays the settings of a virtual environment beside the notebook.",
        "pyvenv.cfg",
        "home = /nowhere\n",
    ),
    (
        "settings_of_an_environment_file",
        "Lays a file of environment variables beside the notebook.",
        ".env",
        "RNNLAB_HOME=/nowhere\nNUMBA_DISABLE_JIT=1\n",
    ),
    (
        "a_path_file",
        "Lays a .pth file beside the notebook, which site would run.",
        "evil.pth",
        "import os; " + MARK,
    ),
    (
        "a_module_called_sitecustomize",
        "Lays a sitecustomize.py beside the notebook, a name that Python imports by itself.",
        "sitecustomize.py",
        MARK,
    ),
    (
        "a_module_called_usercustomize",
        "Lays a usercustomize.py beside the notebook, a name that Python imports by itself.",
        "usercustomize.py",
        MARK,
    ),
    (
        "a_module_called_numpy",
        "Lays a numpy.py beside the notebook, a name that the judge imports.",
        "numpy.py",
        MARK,
    ),
    (
        "a_module_called_json",
        "Lays a json.py beside the notebook, a name that the judge imports.",
        "json.py",
        MARK,
    ),
    (
        "a_module_called_psutil",
        "Lays a psutil.py beside the notebook, a name that the judge imports.",
        "psutil.py",
        MARK,
    ),
    (
        "a_module_called_numba",
        "Lays a numba.py beside the notebook, a name that the judge imports.",
        "numba.py",
        MARK,
    ),
    (
        "a_package_called_rnnlab",
        "Lays a package of the course's name beside the notebook.",
        "rnnlab/__init__.py",
        MARK,
    ),
)


def _notebook(folder, *sources, name=NAME):
    """The arguments that grade a notebook with these cells."""
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources or (RIGHT,)]
    (folder / name).write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    return ["grade", name, *ONLY]


def _raw(folder, notebook):
    """The arguments that grade a notebook of this content."""
    (folder / NAME).write_text(json.dumps({"nbformat": 4, "metadata": {}} | notebook))
    return ["grade", NAME, *ONLY]


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
    """Hands in bytes that are no text."""
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
    """Keeps its progress in a file that is no database.

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


def a_byte_order_mark(folder):
    """Is right, and its file begins with a byte order mark.

    outcome: 1 of 1 points
    """
    arguments = _notebook(folder)
    (folder / NAME).write_bytes(b"\xef\xbb\xbf" + (folder / NAME).read_bytes())
    return arguments


def ids_of_cells_twice(folder):
    """Is right, and its cells have the same id, which moves the cursor.

    outcome: 1 of 1 points
    """
    cell = {"cell_type": "code", "metadata": {}, "id": "\x1b[2A", "outputs": [], "execution_count": None}
    return _raw(folder, {"cells": [cell | {"source": "x = 1"}, cell | {"source": RIGHT}]})


def a_key_twice(folder):
    """Has its cells twice, first those of a wrong answer; every reader of JSON takes the last ones.

    outcome: 1 of 1 points
    """
    _notebook(folder)
    wrong = '{"cells": [{"cell_type": "code", "metadata": {}, "source": "def last_step(y): return 0"}],'
    (folder / NAME).write_text(wrong + (folder / NAME).read_text()[1:])
    return ["grade", NAME, *ONLY]


def cells_of_odd_types(folder):
    """Has numbers, texts and nothing where cells, their kinds, sources and outputs should be, beside a right cell.

    outcome: 1 of 1 points
    """
    sources = (None, 5, {"a": 1}, [None, 7, ["x"]], "x = 1")
    odd = [{"cell_type": kind, "source": source} for kind in (None, 7, "code", ["code"]) for source in sources]
    right = {"cell_type": "code", "metadata": 7, "source": RIGHT, "outputs": 5, "execution_count": "many"}
    return _raw(folder, {"cells": [None, 5, "text", [], *odd, right], "metadata": []})


def an_integer_of_ten_thousand_digits(folder):
    """Has a number in its metadata that Python refuses to read.

    outcome: 0 of 1 points
    """
    (folder / NAME).write_text('{"cells": [], "nbformat": 4, "metadata": {"n": ' + "9" * 10_000 + "}}")
    return ["grade", NAME, *ONLY]


def numbers_that_are_none(folder):
    """Is right, and has numbers in its metadata that JSON does not have.

    outcome: 1 of 1 points
    """
    _notebook(folder)
    text = (folder / NAME).read_text()
    (folder / NAME).write_text(text[:-1] + ', "odd": [NaN, -Infinity, 1e999]}')
    return ["grade", NAME, *ONLY]


def outputs_of_many_megabytes(folder):
    """Is right, and holds eight megabytes of pictures in outputs and attachments.

    outcome: 1 of 1 points
    """
    picture = {"image/png": "A" * 4_000_000}
    shown = [{"output_type": "display_data", "data": picture, "metadata": {}}]
    cells = [{"cell_type": "markdown", "source": "x", "attachments": {"a.png": picture}}]
    return _raw(folder, {"cells": [*cells, {"cell_type": "code", "source": RIGHT, "outputs": shown}]})


def magics_beside_the_answer(folder):
    """Is right, and runs programs and writes files by magics of every kind in other cells.

    outcome: 1 of 1 points
    """
    cells = ["!touch ran", "%%bash\ntouch ran", "%%writefile ran\nx", "a = !touch ran", "%run ran.py"]
    cells += ["get_ipython().system('touch ran')", "%%script touch ran\n", "%load_ext ran", "touch? ran"]
    return _notebook(folder, *cells, RIGHT, *cells)


def a_later_cell_that_defines_it_again(folder):
    """Shows a right answer, and defines it again in a later cell.

    outcome: 0 of 1 points
    """
    return _notebook(folder, RIGHT, "def last_step(y):\n    return y[0].copy()\n")


def an_expression_nested_without_end(folder):
    """Hands in an expression with a hundred thousand signs.

    outcome: 0 of 1 points
    """
    return _notebook(folder, f"def last_step(y):\n    return {'-' * 100_000}y[-1]\n")


def a_sum_of_ten_thousand_terms(folder):
    """Hands in a sum that is nested ten thousand deep, as Python reads it.

    outcome: 0 of 1 points
    """
    return _notebook(folder, f"def last_step(y):\n    return {'y[-1] - y[-1] + ' * 5_000}y[-1]\n")


def a_kernel_nested_without_end(folder):
    """Hands in a kernel whose element is read by a sum of ten thousand terms.

    outcome: 0 of 2 points
    """
    head = "from rnnlab import cuda\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    i = cuda.grid(1)\n"
    arguments = _notebook(folder, f"{head}    y[i] = {'a + ' * 10_000}x[i]\n", name="09_cuda_first_kernels.ipynb")
    return [*arguments[:2], "--only", "saxpy_kernel", "--seed", "1"]


def a_null_character_in_its_source(folder):
    """Has a null character in its source.

    outcome: 0 of 1 points
    """
    return _notebook(folder, f"x = '\0'\n{RIGHT}")


def a_declared_encoding(folder):
    """Is right, and declares an encoding that turns its letters into others.

    outcome: 1 of 1 points
    """
    return _notebook(folder, f"# -*- coding: rot13 -*-\n{RIGHT}")


def odd_ends_of_lines(folder):
    """Is right, and ends its lines in the ways of three systems, with page breaks between them.

    outcome: 1 of 1 points
    """
    return _notebook(folder, "x = 1\r\ny = 2\r\x0c\nz = '\u2028'\r\n" + RIGHT.replace("\n", "\r\n"))


def a_name_in_wide_letters(folder):
    """Is right, and spells its function in wide letters, which Python reads as the usual ones.

    outcome: 1 of 1 points
    """
    return _notebook(folder, RIGHT.replace("last_step", "\uff4c\uff41st_step"))


def a_format_of_the_future(folder):
    """Is right, and calls its format by a text.

    outcome: 1 of 1 points
    """
    cells = [{"cell_type": "code", "metadata": {}, "source": RIGHT}]
    return _raw(folder, {"cells": cells, "nbformat": "next", "nbformat_minor": [9]})


def ten_thousand_cells(folder):
    """Is right, and has ten thousand other cells.

    outcome: 1 of 1 points
    """
    return _notebook(folder, *["x = 1"] * 10_000, RIGHT)


def _case(deed, name, text):
    """The function of one row of BESIDE."""

    def case(folder):
        return _beside(folder, name, text)

    case.__doc__ = f"{deed}\n\noutcome: 1 of 1 points"
    return case


globals().update({name: _case(deed, file, text) for name, deed, file, text in BESIDE})
