"""`rnnlab lab`: JupyterLab on this course, with your own copies of the exercises and NumPy at full speed."""

import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from rnnlab import course
from rnnlab.grading.progress_file import home
from rnnlab.machine import blas

SETTINGS = Path(__file__).with_name(
    "jupyter"
)  # on JUPYTER_CONFIG_PATH: JupyterLab asks nothing at its first start
FIRST_PORT, LAST_PORT = 8888, 8987


class NotReady(Exception):
    """JupyterLab cannot be started; says what is missing and what to do."""


def serve(lesson: str = "00", port: int | None = None, browser: bool = True) -> int:
    """Start JupyterLab and wait until it ends; its exit status.  Raises NotReady."""
    if find_spec("jupyterlab") is None:
        raise NotReady("JupyterLab is not installed: run `make lab`, or pip install 'rnnlab[lab]'")
    notebook, port = _notebook(course.ROOT, lesson), _port(port)
    _copy_exercises(course.ROOT)
    environment, diagnosis = blas.better_environment(os.environ, home() / "blas.json")
    if diagnosis.gain >= blas.WORTH_SAYING:
        print(f"NumPy: {diagnosis.sentence(os.environ)}. The notebooks get the better choice.", flush=True)
    print(f"Serving {course.ROOT} on port {port}. End with Ctrl-C, twice.", flush=True)
    try:
        return subprocess.run(
            command(notebook, port, browser), env=_with_settings(environment), cwd=course.ROOT
        ).returncode
    except KeyboardInterrupt:
        return 0


def command(notebook: Path, port: int, browser: bool) -> list[str]:
    """The command line of JupyterLab, opening that notebook (relative to the course)."""
    options = [f"--ServerApp.root_dir={course.ROOT}", f"--port={port}", "--ServerApp.port_retries=0"]
    options += [] if browser else ["--no-browser"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")  # in a container one is root, and Jupyter refuses that unless told
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        *options,
        f"--LabApp.default_url=/lab/tree/{notebook.as_posix()}",
    ]


def _notebook(root: Path, lesson: str) -> Path:
    found = sorted((root / "notebooks").glob(f"{lesson}*.ipynb"))
    if found:
        return found[0].relative_to(root)
    lessons = [path.stem for path in sorted(root.glob("notebooks/*.ipynb"))]
    if not lessons:
        raise NotReady(f"{root} holds no notebooks/: run rnnlab in a clone of the course")
    raise NotReady(f"there is no lesson {lesson!r}; there are {', '.join(lessons)}")


def _copy_exercises(root: Path) -> None:
    try:
        made = course.copy_exercises(root)
    except OSError as problem:
        raise NotReady(problem.strerror or str(problem)) from problem
    for path in made:
        print(f"made {path.relative_to(root)}: your own copy, never overwritten", flush=True)


def _port(wanted: int | None) -> int:
    for port in [wanted] if wanted is not None else range(FIRST_PORT, LAST_PORT + 1):
        if _is_free(port):
            return port
    if wanted is None:
        raise NotReady(f"no port from {FIRST_PORT} to {LAST_PORT} is free: choose one with --port N")
    raise NotReady(f"port {wanted} is in use: choose another with --port N, or leave --port out")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _with_settings(environment: dict[str, str]) -> dict[str, str]:
    paths = [str(SETTINGS), *filter(None, [environment.get("JUPYTER_CONFIG_PATH")])]
    return environment | {"JUPYTER_CONFIG_PATH": os.pathsep.join(paths)}
