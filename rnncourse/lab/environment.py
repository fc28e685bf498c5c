"""A Python environment of the clone's own, with the packages that pyproject.toml and constraints.txt name.

    python -m rnncourse.lab.environment [--python-chosen] [--else-older] FOLDER EXTRAS [options of pip ...]

The Makefile runs this each time and before anything is installed: it needs the standard library only, and
ends at once where nothing is to be done. A note in FOLDER says where it was made, by which Python, and from
which content each extra was installed. An environment that was copied or moved, or whose Python went away,
changed or is not the chosen one, is made anew. One whose set-up was interrupted continues.

PyTorch is measured on the CPU. On Linux its usual build brings CUDA's libraries, gigabytes that no CPU
reads; a build without them has "+cpu" in its version, and is taken where the package index has one.
"""

import argparse
import ast
import contextlib
import errno
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from nbjudge.files import ROOT, write_whole
from rnncourse.remedies import command_line

LEAST = (2, 9)  # of PyTorch, as pyproject.toml requires
WITH_CUDA_GB = 6  # on disk, PyTorch 2.15 with its CUDA libraries
SECONDS = 60.0  # for another Python or the package index to answer
LISTS = ("pyproject.toml", "constraints.txt")
NOTE = "rnnlab.json"
LOG = "set-up.log"
# pip's settings by which it would install elsewhere, or not all
SWITCHES = ("PIP_USER", "PIP_NO_DEPS", "PIP_DRY_RUN", "PIP_REQUIRE_HASHES")
PLACES = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")
SETTING = re.compile(r"^(?:global|install)\.(\S+?)=(.*)$", re.M)  # in what `pip config list` prints
LARGE_MB = 8  # a file of this size has a line of its own while one waits
# their sources need compilers that a learner has not: better one sentence than pages of a failed build
BUILT = "numpy,pillow,scipy,scikit-learn,numba,llvmlite"
DOWNLOAD = re.compile(r"Downloading (?:\S*/)?([\w.]+)-\d\S* \(([\d.]+) MB\)")
UNREACHABLE = "the package index does not answer. Check your connection, or name a proxy in HTTPS_PROXY"
FULL = "the disk is full. Free 2 GB"
CAUSES = (  # what pip printed, and the sentence for it; the first that fits
    (r"No space left on device", FULL),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "the package index shows a certificate that is not trusted here. Name your network's own in PIP_CERT",
    ),
    (
        r"connection broken|Max retries exceeded|ConnectTimeout|ReadTimeout|NameResolution|ProxyError",
        UNREACHABLE,
    ),
    (
        rf"(?:No matching distribution found for|\(constraint\)) (?:{BUILT.replace(',', '|')})\b",
        "a package is not built for this system or this Python. docs/trouble.md has a row on that",
    ),
    (r"\(from versions: none\)", UNREACHABLE),  # pip that is told not to retry says no more
)


class NotSetUp(Exception):
    """The environment is not complete; says why and what to do. `untouched`: nothing was installed yet."""

    def __init__(self, sentence: str, untouched: bool = False):
        super().__init__(sentence)
        self.untouched = untouched


def main(arguments: list[str] | None = None) -> int:
    """Set up one environment; 0 where it is complete, 1 with a sentence where it is not."""
    parser = argparse.ArgumentParser("python -m rnncourse.lab.environment", description="Set one up.")
    parser.add_argument("--python-chosen", action="store_true", help="one of another Python: make it anew")
    parser.add_argument(
        "--else-older", action="store_true", help="offline: what was installed before will do"
    )
    parser.add_argument("folder", help="the environment's folder in the clone")
    parser.add_argument("extras", help="extras of pyproject.toml, with commas between them")
    parser.add_argument("pip_options", nargs=argparse.REMAINDER, help="handed on to pip")
    chosen = parser.parse_args(arguments)
    folder = ROOT / chosen.folder
    extras = chosen.extras.split(",")
    try:
        set_up(folder, extras, chosen.pip_options, chosen.python_chosen, chosen.else_older)
    except (NotSetUp, OSError) as problem:
        full = isinstance(problem, OSError) and problem.errno == errno.ENOSPC
        reason = f"{FULL}; the same command then continues." if full else problem
        print(f"{chosen.folder} is not set up: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{chosen.folder} is not set up yet: the same command continues from here", file=sys.stderr)
        return 130
    return 0


def set_up(
    folder: Path,
    extras: list[str],
    pip_options: Iterable[str] = (),
    python_chosen: bool = False,
    else_older: bool = False,
) -> None:
    """Make the folder an environment with these extras, or raise NotSetUp."""
    note = read_note(folder)
    content = content_of_lists()
    reason = why_anew(folder, note, python_chosen)
    if reason:
        print(f"{reason}: making {folder.name} anew.", flush=True)
    if reason or not note:
        note = make_environment(folder, anew=bool(reason))
    is_installed = all(note["installed"].get(extra) == content for extra in extras)
    if is_installed and has_packages(folder):
        return
    try:
        install(folder, extras, pip_options)
    except NotSetUp as problem:
        if not (else_older and problem.untouched and {*extras} <= {*note["installed"]}):
            raise
        print(f"{folder.name} is of an older version of the course, and stays so: {problem}", flush=True)
        return
    forget_compiled(ROOT)  # also after an update by an older version of the course, which did not
    note["installed"].update(dict.fromkeys(extras, content))
    write_note(folder, note)


def forget_compiled(root: Path) -> None:
    """Remove what Numba has stored of the packages: it may name classes that are renamed since."""
    for pattern in ("*.nbi", "*.nbc"):
        for path in root.glob(f"*/**/__pycache__/{pattern}"):
            if path.relative_to(root).parts[0][0] != ".":  # an environment's packages keep theirs
                path.unlink(missing_ok=True)


def content_of_lists() -> str:
    """Hash of the files that say what is to be installed; when git wrote them does not matter."""
    contents = [(ROOT / name).read_bytes() for name in LISTS]
    return hashlib.sha256(b"\0".join(contents)).hexdigest()


def read_note(folder: Path) -> dict | None:
    """The note of an environment; None where it was made by other hands, or not to its end."""
    note = read_object(folder / NOTE)
    whole = {*note} == {"folder", "version", "installed"} and isinstance(note["installed"], dict)
    return note if whole else None


def read_object(path: Path) -> dict:
    """The object in a JSON file; empty if the file is missing, damaged or holds something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_note(folder: Path, note: dict) -> None:
    """Keep the note in the environment: place, Python's version, {extra: content it was installed from}."""
    write_whole(folder / NOTE, json.dumps(note, indent=1).encode())


def why_anew(folder: Path, note: dict | None, python_chosen: bool) -> str | None:
    """Why the environment cannot be used as it is; None where it can, or where there is none yet."""
    if not os.path.lexists(folder):
        return None
    if note and note["folder"] != str(folder):
        return f"This course was copied or moved, its {folder.name} belongs to {note['folder']}"
    python = python_of(folder)
    if python is None:
        return f"The Python of {folder.name} does not start"
    version, base = python
    if note and note["version"] != version:
        return f"{folder.name} was made with Python {note['version']}, which is now {version}"
    if python_chosen and base != own_base():
        return f"{folder.name} has Python {version} of {base}, and {own_base()} is required"
    return None


def python_of(folder: Path) -> tuple[str, str] | None:
    """(version such as "3.11", file of the Python behind it) of an environment; None if it does not start."""
    program = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys._base_executable)"
    lines = output_of([interpreter(folder), "-I", "-c", program]).splitlines()
    if len(lines) != 2:
        return None
    version, base = lines
    return version, os.path.realpath(base)


def output_of(command: Sequence[str | Path]) -> str:
    """What a program prints; nothing if it is missing, fails, or takes longer than SECONDS."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""


def interpreter(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def own_base() -> str:
    """The file of the Python that runs this, or of the one behind it, should it be an environment's."""
    return os.path.realpath(sys._base_executable)


def make_environment(folder: Path, anew: bool) -> dict:
    """An environment without packages, and its note; `anew` removes what is there."""
    if anew and folder.is_symlink():
        folder.unlink()  # the environment behind it is another clone's
    line = [own_base(), "-m", "venv", *(["--clear"] if anew else []), folder]
    done = subprocess.run(line, capture_output=True, text=True, env=pip_environment())
    if done.returncode:
        raise NotSetUp(_why_no_environment(folder, done.stdout + done.stderr))
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    note = {"folder": str(folder), "version": version, "installed": {}}
    write_note(folder, note)
    return note


def _why_no_environment(folder: Path, output: str) -> str:
    """The remedy that fits; Debian's advice only where what Debian leaves out is missing."""
    python = own_base()
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if subprocess.run([python, "-I", "-c", "import ensurepip, venv"], capture_output=True).returncode:
        advice = f"On Debian and Ubuntu: sudo apt-get install python3-venv (or python{version}-venv)"
        return f"{python} cannot make a virtual environment. {advice}"
    if os.pathsep in str(folder):
        return f"an environment cannot stand in a folder with {os.pathsep!r} in its name: rename {ROOT}"
    if not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return f"{folder.parent} cannot be written: make it writable, or clone the course elsewhere"
    last = next(reversed(output.strip().splitlines()), "no reason was printed")
    return f"{FULL}." if "No space left" in output else f"{python} -m venv failed: {last}"


def install(folder: Path, extras: list[str], pip_options: Iterable[str] = ()) -> None:
    """Install the course and these extras by pip, with a line for each large download; or raise NotSetUp."""
    print(f"Setting up {folder.name} with {', '.join(extras)}: once, a few minutes.", flush=True)
    pip = (interpreter(folder), "-m", "pip", "install", "--disable-pip-version-check")
    line = [
        *(*pip, "--progress-bar", "off", "--constraint", _constraints(folder, extras)),
        *("--only-binary", BUILT),
        "--no-compile",  # Python compiles what it imports; all of it would be 160 MB
        *("--editable", f".[{','.join(extras)}]", *pip_options),
    ]
    output = []
    with subprocess.Popen(
        line, cwd=ROOT, env=settings_as_variables(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        for text in process.stdout:
            output.append(text)
            for sentence in progress(text):
                print(f"  {sentence}", flush=True)
    with contextlib.suppress(OSError):  # a full disk is one reason for which pip fails
        (folder / LOG).write_text("".join(output), encoding="utf-8")
    if process.returncode:
        raise failure(folder, "".join(output))
    if not has_packages(folder):
        settings = command_line(interpreter(folder), "-m", "pip", "config", "list")
        raise NotSetUp(f"pip ended without an error, but NumPy is not in {folder}. Its settings: {settings}")


def settings_as_variables(folder: Path) -> dict[str, str]:
    """pip's variables with its files' settings in them, but for another place; then no file is read.

    No option undoes the `target` or `root` of a file, which the pip that builds a package reads, too.
    """
    variables = pip_environment()
    line = [interpreter(folder), "-m", "pip", "config", "list"]
    settings = subprocess.run(line, env=variables, capture_output=True, text=True)
    for name, value in SETTING.findall(settings.stdout):
        variable = f"PIP_{name.upper().replace('-', '_')}"
        if variable not in (*PLACES, *SWITCHES):
            variables.setdefault(variable, str(ast.literal_eval(value)))
    return {**variables, "PIP_CONFIG_FILE": os.devnull}


def has_packages(folder: Path) -> bool:
    """Whether NumPy, which every part of the course needs, lies in an environment."""
    return any(folder.glob("[Ll]ib/**/site-packages/numpy/__init__.py"))


def _constraints(folder: Path, extras: list[str]) -> str:
    """The file of constraints; for peers one with a CPU build of PyTorch, if the index has that."""
    if not {"peers", "frameworks"} & {*extras}:
        return "constraints.txt"
    build = newest_cpu_build(interpreter(folder))
    if message := describe_build(build):
        print(f"  {message}", flush=True)
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    if build:
        text = re.sub("^torch==.*", f"torch=={build}", text, flags=re.M)
    (folder / "constraints.txt").write_text(text, encoding="utf-8")
    return str(folder / "constraints.txt")


def progress(line: str) -> Iterable[str]:
    """Progress in a line of pip's output, if there is any."""
    download = DOWNLOAD.search(line)
    megabytes = float(download[2]) if download else 0.0
    if megabytes >= LARGE_MB:
        yield f"downloading {download[1]}, {megabytes:.0f} MB"
    elif line.startswith("Installing collected packages"):
        yield f"installing {line.count(',') + 1} packages"


def failure(folder: Path, output: str) -> NotSetUp:
    """One sentence for what pip printed; its own last error where the cause is none that we know."""
    untouched = "Installing collected packages" not in output
    for pattern, sentence in CAUSES:
        if re.search(pattern, output):
            return NotSetUp(f"{sentence}; the same command then continues.", untouched)
    errors = [line for line in output.splitlines() if line.startswith("ERROR")] or ["pip failed"]
    return NotSetUp(f"{errors[-1]} (all of it: {folder / LOG})", untouched)


def pip_environment() -> dict[str, str]:
    """The variables for pip: none that would bring in, or install into, another system's packages."""
    foreign = {"PYTHONPATH", "PYTHONHOME", "PIP_QUIET", *PLACES, *SWITCHES}
    own = {name: value for name, value in os.environ.items() if name not in foreign}
    return {"PIP_RETRIES": "2", "PYTHONUNBUFFERED": "1", **own, **dict.fromkeys(SWITCHES, "0")}


def newest_cpu_build(python: Path) -> str | None:
    """Version of the newest CPU build that pip finds, as "2.15.0+cpu"; None if pip finds none."""
    if sys.platform != "linux":  # elsewhere the usual build is one
        return None
    command = [python, "-m", "pip", "index", "versions", "torch", "--disable-pip-version-check"]
    builds = re.findall(r"\b(\d+(?:\.\d+)+)\+cpu\b", output_of(command))
    numbers = lambda version: tuple(map(int, version.split(".")))
    newest = max(builds, key=numbers, default="")
    return f"{newest}+cpu" if newest and numbers(newest) >= LEAST else None


def describe_build(build: str | None) -> str:
    """What a person should know before pip begins."""
    if build:
        return f"PyTorch {build}: a build for the CPU, without the {WITH_CUDA_GB} GB of CUDA's libraries"
    if sys.platform != "linux":
        return ""
    return (
        f"the package index has no CPU build of PyTorch: with CUDA's libraries it takes {WITH_CUDA_GB} GB of"
        " disk; Ctrl-C ends this, PIP_EXTRA_INDEX_URL can name an index of CPU builds (see pytorch.org)"
    )


if __name__ == "__main__":
    sys.exit(main())
