"""What IPython gives to every cell besides Python: `display` and `get_ipython`, almost without effect here.

Results and sources of earlier cells have their names where an answer reads them.

Programs do not run, so a shell line whose output is assigned fails.
"""

import ast
import builtins
import os
import re

SHOWN = "_shown "  # with a blank: the name of no variable
RESULTS = ("_", "__", "___")
PUT_IN = re.compile(r"\$(\w+)|\{(\w+)\}")  # names of values in a line of IPython


class PretendedIPython:
    """What `get_ipython()` returns: most methods take anything and do nothing."""

    def __init__(self, namespace: dict):
        self.user_ns = namespace

    def push(self, variables: dict) -> None:
        """Give values to names, as IPython does."""
        self.user_ns.update(variables)

    def run_line_magic(self, name: str, line: str) -> None:
        """Set a variable of the environment: %env NAME=value or %env NAME value."""
        variable, sign, value = line.partition("=" if "=" in line else " ")
        if name in ("env", "set_env") and sign:
            value = PUT_IN.sub(lambda match: str(self.user_ns.get(match[1] or match[2], match[0])), value)
            os.environ[variable.strip()] = value.strip()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **keywords: None


class History:
    """Results as _, __, ___, _3 and Out[3], sources as In[3].

    cells: {label: (count, [line, column] of the expression whose value is displayed, or None, text)}.
    """

    def __init__(self, cells: dict[str, list], namespace: dict):
        self.cells = cells
        self.namespace = namespace
        self.results = ["", "", ""]
        texts = {count: text for count, _, text in cells.values()}
        sources = [texts.get(count, "") for count in range(max(texts) + 1)]
        self.values: dict[int, object] = {}
        namespace |= {"In": sources, "_ih": sources, "Out": self.values, "_oh": self.values}
        namespace |= dict.fromkeys(RESULTS, "")

    def is_shown(self, label: str, statement: ast.stmt) -> bool:
        """Is it the expression of its cell whose value is displayed?"""
        return label in self.cells and self.cells[label][1] == [statement.lineno, statement.col_offset]

    def keep(self, label: str) -> None:
        """Name the value that SHOWN has, as IPython does: none of these names if one is the learner's own."""
        value = self.namespace.pop(SHOWN)
        if value is None:
            return
        names = zip(RESULTS, self.results, strict=True)
        are_own = all(self.namespace.get(name, result) is result for name, result in names)
        self.results = [value, *self.results[:2]]
        if are_own:
            self.namespace.update(zip(RESULTS, self.results, strict=True))
        count = self.cells[label][0]
        self.values[count] = self.namespace[f"_{count}"] = value


def output_of_program(line: str) -> None:
    raise OSError(f"a grade runs no programs: {line}")


def install(namespace: dict) -> None:
    """Make them built in, as in a notebook."""
    shell = PretendedIPython(namespace)
    builtins.output_of_program = output_of_program
    builtins.get_ipython = lambda: shell
    builtins.display = lambda *objects, **options: None
