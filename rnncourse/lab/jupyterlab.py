"""`rnnlab lab`: JupyterLab on this course, with your own copies of the exercises and NumPy at full speed."""

import errno
import os
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from nbjudge.lesson_names import UnknownLesson, find_lesson
from rnncourse.lab import blas, work
from rnncourse.remedies import Refusal, pip_install

# on JUPYTER_CONFIG_PATH: JupyterLab asks nothing at its first start, and does not warn of what is in order
SETTINGS = Path(__file__).with_name("jupyter")
OWN_KERNEL = Path(sys.prefix) / "share/jupyter/kernels/python3"
FIRST_PORT = 8888
LAST_PORT = 8987


class NotReady(Refusal):
    """JupyterLab cannot be started; says what is missing and what to do."""


def serve(lesson: str = "00", port: int | None = None, browser: bool = True) -> int:
    """Become JupyterLab on this course, or raise NotReady; on Windows, its exit status when it has ended."""
    course = work.course_folder(work.ROOT)
    notebook = _notebook(course, lesson)  # first: where there are no lessons, JupyterLab does not help
    if find_spec("jupyterlab") is None:
        raise NotReady(f"JupyterLab is not installed: run `make lab`, or {pip_install('rnnlab[lab]')}")
    port = _port(port)
    _copy_exercises(course)
    if message := blas.warning():
        print(f"{message}: unset it, then start again.")
    environment = _with_settings(dict(os.environ), course / "work")
    address = f"http://localhost:{port}/lab/tree/{notebook.as_posix()}"
    print(f"Serving {course} at {address}; end with Ctrl-C, twice.", flush=True)
    line = command(notebook, port, browser, course)
    if os.name == "posix":
        os.execve(line[0], line, environment)  # Ctrl-C and a container's stop signal then reach the server
    return subprocess.run(line, env=environment).returncode


def command(notebook: Path, port: int, browser: bool, course: Path = work.ROOT) -> list[str]:
    """The command line of JupyterLab on a course, opening that notebook (relative to the course)."""
    options = [
        *(f"--ServerApp.root_dir={course}", f"--port={port}", "--ServerApp.port_retries=0"),
        "--log-level=WARN",  # thirty lines are not printed; the address with a new token is
        f"--LabApp.default_url=/lab/tree/{notebook.as_posix()}",
        *([] if browser else ["--no-browser"]),
    ]
    if os.name == "posix" and not sys.stdout.isatty():  # else terminals are login shells, which set PATH
        shell = os.environ.get("SHELL") or shutil.which("bash") or "sh"
        options.append(f"--ServerApp.terminado_settings=shell_command={shlex.quote(shell)}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # in a container the user is root, which Jupyter refuses otherwise
    return [sys.executable, "-m", "jupyterlab", *options]


def _notebook(root: Path, lesson: str) -> Path:
    lessons = [path.stem for path in sorted(root.glob("notebooks/*.ipynb"))]
    if not lessons:
        remedy = "run rnnlab in a clone of the course, or `rnnlab start FOLDER` first"
        raise NotReady(f"{root} holds no notebooks/: {remedy}")
    try:
        return Path("notebooks") / f"{find_lesson(lesson, lessons)}.ipynb"
    except UnknownLesson as unknown:
        raise NotReady(str(unknown)) from None


def _copy_exercises(root: Path) -> None:
    try:
        copied = work.copy_exercises(root)
    except OSError as problem:
        raise NotReady(problem.strerror or str(problem)) from problem
    if not os.access(root / "work", os.W_OK):
        raise NotReady(f"your answers could not be saved: make {root / 'work'} writable (chmod u+w)")
    for line in _describe(copied, root):
        print(line, flush=True)


def _describe(copied: work.Copies, root: Path) -> Iterator[str]:
    """What became of the copies in work/, a line for each but the new ones."""
    named = lambda path: path.relative_to(root).as_posix()
    for old, path in copied.renamed:
        yield f"renamed {named(old)} to {named(path)}, with all that you wrote: its lesson has a new number"
    for path in copied.doubled:
        taken = next(root.glob(f"exercises/[0-9][0-9]{path.name[2:]}")).name
        yield f"kept {named(path)}: work/{taken} has answers, too; put them together there"
    if copied.new:
        first, *others = copied.new
        more = f" and {len(others)} more" if others else ""
        yield f"made {named(first)}{more}: your own copies, never overwritten"
    for path in copied.replaced:
        yield f"replaced {named(path)}: its exercise has changed, and you had written nothing in it"
    for path in copied.outdated:
        yield f"kept {named(path)} with your answers: exercises/{path.name} has changed since you began"


def _port(wanted: int | None) -> int:
    if wanted is None:
        free = (port for port in range(FIRST_PORT, LAST_PORT + 1) if _port_problem(port) is None)
        wanted = next(free, FIRST_PORT)
    problem = _port_problem(wanted)
    if problem:
        raise NotReady(f'port {wanted} {problem}: choose another with --port N (make: OPTIONS="--port N")')
    return wanted


def _port_problem(port: int) -> str | None:
    """Why nothing can be served on this port."""
    if not 0 < port < 2**16:
        return "does not exist, ports are 1 to 65535"
    for family, *_, address in socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM):
        try:
            socket.create_server(address, family=family).close()
        except PermissionError:
            return "needs an administrator's rights"
        except OSError as error:
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):  # a machine without IPv6
                return "is in use"
    return None


def _with_settings(environment: dict[str, str], answers: Path) -> dict[str, str]:
    """The environment with the course's settings and programs, and with folders that Jupyter can write.

    The folder of `rnnlab` comes first on PATH, for cells and for JupyterLab's terminals.
    A home that cannot be written (a read-only disk, a container's user without one) would end JupyterLab with
    a traceback; its own files then lie in work/.jupyter/.
    """

    def put_first(folder, variable, otherwise=""):
        others = environment.get(variable) or otherwise
        environment[variable] = f"{folder}{os.pathsep}{others}" if others else str(folder)

    put_first(SETTINGS, "JUPYTER_CONFIG_PATH")
    put_first(sysconfig.get_path("scripts"), "PATH", os.defpath)
    environment["JUPYTERLAB_WORKSPACES_DIR"] = _layouts(answers)
    if OWN_KERNEL.is_dir():  # else a kernel python3 elsewhere would come first, and start another Python
        put_first(OWN_KERNEL.parents[1], "JUPYTER_PATH")
    if os.path.expanduser("~") == "~":  # a user that the system does not know, as in some containers
        os.environ["HOME"] = environment["HOME"] = str(answers / ".jupyter")
        print(f"You have no home here: Jupyter keeps its files in {environment['HOME']}.", flush=True)
    refused = [name for name, folder in _jupyter_folders(environment).items() if not _writable(folder)]
    if refused:
        print(f"Jupyter cannot write in your home: it keeps its files in {answers / '.jupyter'}.", flush=True)
    return environment | {name: str(answers / ".jupyter" / name.lower()) for name in refused}


def _layouts(answers: Path) -> str:
    """The folder of JupyterLab's layouts for this course; the first one has the list of contents open."""
    first = answers / ".jupyter/workspaces/default-37a8.jupyterlab-workspace"  # JupyterLab's name for it
    if not first.exists():
        first.parent.mkdir(parents=True, exist_ok=True)
        first.write_bytes((SETTINGS / "workspace.json").read_bytes())
    return str(first.parent)


def _jupyter_folders(environment: dict[str, str]) -> dict[str, Path]:
    """{variable: folder} of what JupyterLab and its kernels write, as they choose it without our help."""
    from jupyter_core import paths

    chosen = {
        "JUPYTER_CONFIG_DIR": paths.jupyter_config_dir(),
        "JUPYTER_DATA_DIR": paths.jupyter_data_dir(),
        "JUPYTER_RUNTIME_DIR": paths.jupyter_runtime_dir(),
        "IPYTHONDIR": environment.get("IPYTHONDIR") or os.path.expanduser("~/.ipython"),
    }
    return {name: Path(folder) for name, folder in chosen.items()}


def _writable(folder: Path) -> bool:
    """Whether files can be made in a folder, which may have to be made itself first."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
