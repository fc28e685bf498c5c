"""What a lesson shows of the course itself: the machine it runs on, and source code with its place."""

import inspect
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import rnnlab
from rnncourse import guesses, records
from rnncourse.lab import driver
from rnnlab import resources

ROOT = Path(__file__).resolve().parents[1]
# of JupyterLab: a narrow window shows 80 columns in smaller letters, and no line ends within a word
STYLE = f"""<style>{guesses.STYLE}
.jp-OutputArea {{ container-type: inline-size; }}
.jp-OutputArea .jp-OutputArea-output pre {{ word-break: normal; overflow-wrap: anywhere;
  font-size: clamp(9px, calc((100cqw - 80px) / 49), var(--jp-code-font-size)); }}
</style>"""


def banner() -> None:
    """Say what runs live on this machine, what is simulated, and what was recorded elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell:
        guesses.prepare(shell)
    if hasattr(shell, "kernel"):
        shell.display_pub.publish({"text/html": STYLE, "text/plain": ""})
    if resources.in_browser():
        return _banner_in_browser()
    version = metadata.version("numpy")
    cuda = driver.cuda_version()
    live = [f"NumPy {version} on {resources.usable_cores()} CPU cores"]
    if cuda and find_spec("cupy"):
        live.append(f"CuPy on the GPU, CUDA {cuda[0]}.{cuda[1]}")
    simulated = "GPU kernels" if len(live) == 1 and find_spec("pocketgpu.simulator") else "nothing"
    print(f"rnnlab {rnnlab.__version__} · live: {' and '.join(live)}")
    recorded = f"{len(records.stored()) or 'no'} measurements"
    print(f"simulated: {simulated} · recorded: {recorded}{_missing(cuda)}")


def _banner_in_browser() -> None:
    version = metadata.version("numpy")
    print(
        f"rnnlab {rnnlab.__version__} · live: NumPy {version} in a browser, on one core",
        "Here check() works and all lessons run, some cells as recorded: no threads, processes, compilers.",
        "Times are those of WebAssembly, not of this computer. Only this browser has your work: download it.",
        f"simulated: GPU kernels · recorded: {len(records.stored()) or 'no'} measurements",
        sep="\n",
    )


def _missing(cuda: tuple[int, int] | None) -> str:
    if cuda and not find_spec("cupy"):
        return " · GPU unused: CuPy is missing (make lab installs it)"
    return "" if cuda else " · no GPU: every lesson works without one"


def show_source(thing: Any) -> None:
    """Show the source of a function, class or module, coloured, under its file and line."""
    try:
        thing = inspect.unwrap(thing)
        text = inspect.getsource(thing).rstrip()
        place = _place(thing)
    except (TypeError, OSError):
        kind = type(thing).__name__
        raise TypeError(
            f"show_source takes a Python function, class or module; this {kind} has none"
        ) from None
    if "ipykernel" in sys.modules:
        from IPython.display import Markdown, display

        # the page colours a fenced block to suit its own theme; four ticks, for a docstring may hold three
        display(Markdown(f"`{place}`\n\n````python\n{text}\n````"))
    else:
        print(f"# {place}\n{_coloured(text) if sys.stdout.isatty() else text}")


def _place(thing: Any) -> str:
    path = Path(inspect.getsourcefile(thing) or "")
    if not path.is_file() or path.parent.name.startswith("ipykernel_"):
        return "this notebook"
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    if isinstance(thing, ModuleType):
        return str(shown)
    return f"{shown}, line {inspect.getsourcelines(thing)[1]}"


def _coloured(text: str) -> str:
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import PythonLexer

    return highlight(text, PythonLexer(), TerminalFormatter()).rstrip()
