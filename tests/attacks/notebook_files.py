"""What the file of a notebook may hold. As in surroundings.py, each function gets an empty folder and returns
the arguments of `rnnlab`."""

import json

RIGHT = "def last_step(y):\n    return y[-1].copy()\n"
NAME = "00_start_here.ipynb"
ONLY = ("--only", "last_step", "--seed", "1")


def _raw(folder, notebook, name=NAME):
    """The arguments that grade a notebook of this content."""
    (folder / name).write_text(json.dumps({"nbformat": 4, "metadata": {}} | notebook))
    return ["grade", name, *ONLY]


def _notebook(folder, *sources, name=NAME):
    """The same, of these cells or of a right one."""
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources or (RIGHT,)]
    return _raw(folder, {"cells": cells}, name)


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
