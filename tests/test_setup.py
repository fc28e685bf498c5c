"""pyproject.toml, constraints.txt and environment.yml agree, and set-up needs nothing but Python and make."""

import platform
import re
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from values_in import holds

from nbjudge.authoring.course import ROOT
from rnncourse.lab import driver

LISTS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = LISTS["project"]
EXTRAS = PROJECT["optional-dependencies"]
PINS = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines())
CONDA, CONDA_GPU = (
    yaml.safe_load((ROOT / name).read_text())["dependencies"]
    for name in ("environment.yml", "environment-gpu.yml")
)
CONDA_NAMES = {
    "cupy-cuda12x": "cupy",
    "cupy-cuda13x": "cupy",
}  # where conda-forge's name is another
# CUDA 12 and CUDA 13 bring these libraries in different versions: CuPy, Numba or PyTorch choose them
CHOSEN_BY_CUDA = re.compile(r"cuda-bindings|cuda-toolkit|nvidia-.*|triton")


def required(*extras):
    """Requirements of the package itself and of some of its extras."""
    return [Requirement(line) for line in [*PROJECT["dependencies"], *(r for e in extras for r in EXTRAS[e])]]


def closure(requirements):
    """{name: version} of every installed distribution that the requirements need, however indirectly."""
    result, todo = {}, [(canonicalize_name(r.name), {*r.extras}) for r in requirements]
    while todo:
        name, extras = todo.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # an optional build that this machine has no use for
        if name in result and not extras:
            continue
        result[name] = distribution.version
        for line in distribution.requires or []:
            needed = Requirement(line)
            if any(not needed.marker or needed.marker.evaluate({"extra": e}) for e in ["", *extras]):
                todo.append((canonicalize_name(needed.name), {*needed.extras}))
    return result


def test_pocketgpu_as_a_distribution_of_its_own_has_the_metadata_and_folders_of_the_whole():
    own = tomllib.loads((ROOT / "pocketgpu/pyproject.toml").read_text())
    base = (ROOT / "pocketgpu" / own["tool"]["distutils"]["build"]["build_base"]).resolve()
    assert base.is_relative_to(ROOT / "build"), "tests and sites read every file of the package"
    for name in ("version", "requires-python"):
        assert own["project"][name] == PROJECT[name]
    assert [requirement for requirement in PROJECT["dependencies"] if requirement.startswith("numpy")] == own[
        "project"
    ]["dependencies"]
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "pocketgpu").rglob("__init__.py")}
    assert {".".join(folder.parts) for folder in folders} == {*own["tool"]["setuptools"]["packages"]}
    data = LISTS["tool"]["setuptools"]["package-data"]
    assert own["tool"]["setuptools"]["package-data"]["pocketgpu"] == data["pocketgpu"]
    assert own["project"]["optional-dependencies"]["compile"] == PROJECT["optional-dependencies"]["compile"]
    assert own["project"]["entry-points"]["pytest11"] == PROJECT["entry-points"]["pytest11"]


PINNED = [entry for entry in required(*EXTRAS) if not CHOSEN_BY_CUDA.fullmatch(entry.name)]


@pytest.mark.parametrize("requirement", PINNED, ids=lambda r: r.name)
def test_every_requirement_is_pinned_to_a_version_it_allows(requirement):
    assert requirement.specifier.contains(PINS[canonicalize_name(requirement.name)])


def test_the_tests_have_what_builds_the_wheel_whatever_python_itself_brings():
    """Python 3.11 brings setuptools 65.5, Python 3.12 none; the wheel is built without a download."""
    installed = {str(Requirement(line)) for line in EXTRAS["dev"]}
    assert {str(Requirement(line)) for line in LISTS["build-system"]["requires"]} <= installed


def test_every_package_that_comes_along_is_pinned_too():
    unpinned = {name for name in closure(required("lab", "dev")) if name not in PINS}
    assert not {name for name in unpinned if not CHOSEN_BY_CUDA.fullmatch(name)}


def test_conda_users_get_the_same_versions():
    versions = dict(line.split("=") for line in CONDA if isinstance(line, str) and "=" in line)
    assert Version(versions.pop("python")) >= Version("3.11")
    assert versions == in_conda_forge(required("lab"))


def in_conda_forge(requirements):
    """Pinned versions under conda-forge's names; its CuPy brings the libraries of CUDA itself."""
    names = [canonicalize_name(r.name) for r in requirements if not CHOSEN_BY_CUDA.fullmatch(r.name)]
    return {CONDA_NAMES.get(name, name): PINS[name] for name in names}


def test_only_machines_with_a_gpu_are_asked_for_its_packages():
    """On macOS there are none, and others would load gigabytes for nothing."""
    versions = dict(line.split("=") for line in CONDA_GPU)
    assert versions == {
        name: version
        for name, version in in_conda_forge(required("cuda13")).items()
        if name in ("cupy", "numba-cuda")
    }
    assert versions.items().isdisjoint(
        dict(line.split("=") for line in CONDA if isinstance(line, str) and "=" in line)
    )


def test_conda_installs_the_course_itself_without_another_copy_of_its_packages():
    assert {"pip": ["--editable ."]} in CONDA


def test_what_makes_rungs_fast_is_a_part_of_what_the_lessons_need():
    assert {*EXTRAS["fast"]} < {*EXTRAS["lab"]} - {*EXTRAS["first"]}


ADVICE = re.compile(r"pip install [^\n`\"]*")
COMMAND = r"(?:-m pip install(?: --upgrade| --force-reinstall)? '|pip_install\((?:\"--[\w-]+\", )*f?\")"
BY_EXTRA = re.compile(COMMAND + r"(?:rnnlab|\{\w+\})\[([\w,-]+)\]")


def test_a_remedy_of_the_packages_works_in_a_clone_and_beside_the_wheel():
    """From any folder: it names no file of the clone, and each extra that it names exists."""
    clones_own = {
        "environment.py",
        "start.py",
        "doctor.py",
    }  # of the clone's own set-up, or of a package's address
    for package in ("pocketgpu", "ranks", "nbjudge", "rnnlab", "rnncourse"):
        for path in sorted(ROOT.glob(f"{package}/**/*.py")):
            text = "" if path.name in clones_own else path.read_text(encoding="utf-8")
            advice = [line for line in ADVICE.findall(text) if "opt/uv" not in line and "-q " not in line]
            assert not [line for line in advice if "constraint" in line or "-e " in line], path
            assert {extra for names in BY_EXTRA.findall(text) for extra in names.split(",")} <= {*EXTRAS}, (
                path
            )


def test_the_first_lessons_need_no_more_than_the_course_and_no_compiler():
    assert {*EXTRAS["first"]} < {*EXTRAS["lab"]}
    names = closure(required("first"))
    assert "jupyterlab" in names
    assert not {"numba", "llvmlite", "scipy", "scikit-learn"} & names.keys()


def test_the_version_is_stated_once_in_code_and_once_for_the_installer():
    import rnnlab

    assert PROJECT["version"] == rnnlab.__version__


def test_the_driver_is_asked_with_the_standard_library_only():
    done = subprocess.run(
        [sys.executable, "-I", "-S", driver.__file__], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() in {"", "cuda12", "cuda13"}


@pytest.mark.parametrize(
    ("version", "extra"),
    [
        (None, None),
        ((11, 8), None),
        ((12, 0), "cuda12"),
        ((12, 9), "cuda12"),
        ((13, 1), "cuda13"),
        ((14, 0), "cuda13"),
    ],
)
def test_the_build_fits_the_driver_and_without_one_there_is_none(monkeypatch, version, extra):
    monkeypatch.setattr(driver, "cuda_version", lambda: version)
    assert driver.extra() == extra


def test_the_driver_is_found_through_nvidia_smi_where_its_library_is_not(monkeypatch, tmp_path):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '| Driver Version: 570.86.15   CUDA Version: 12.8 |'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(driver, "LIBRARIES", ("no-such-library.so",))
    assert driver.cuda_version() == (12, 8)
    program.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert driver.cuda_version() is None


def make(*arguments, **environment):
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, env=environment)


def test_make_has_an_environment_of_its_own_for_numba_cuda_and_one_with_cupy_and_pytorch():
    plan = lambda target, **more: (
        make("--dry-run", "--always-make", target, "CUDA_EXTRA=cuda13", PATH="/usr/bin:/bin", **more).stdout
    )
    assert ".venv-cuda 'lab,dev,compile,cuda13'" in plan("test-cuda")
    assert "tests/pocketgpu/test_numba_cuda.py" in plan("test-cuda")
    assert ".venv 'lab,dev,gpu-peers,cuda13'" in plan("gpu-peers")
    assert "--gpu" in plan("test-gpu")


def test_make_says_so_where_there_is_no_python(tmp_path):
    (tmp_path / "sh").symlink_to("/bin/sh")
    program = subprocess.run(["which", "make"], capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(
        [program, "--always-make", "lab"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path)},
    )
    assert done.returncode
    assert "no Python 3.11 to 3.14" in done.stdout


def test_make_installs_a_gpu_build_only_where_it_is_told_of_one():
    plan = lambda extra: (
        make("--dry-run", "--always-make", "lab", f"CUDA_EXTRA={extra}", PATH="/usr/bin:/bin").stdout
    )
    assert ".venv 'lab,cuda12'" in plan("cuda12")
    assert ".venv 'lab'" in plan("")
    first = make("--dry-run", "--always-make", "lab-first", "CUDA_EXTRA=cuda12", PATH="/usr/bin:/bin").stdout
    assert ".venv first\n" in first


def test_halide_and_nvidias_compilers_are_installed_by_continuous_integration_only():
    plan = lambda **more: make("--dry-run", "--always-make", "test", PATH="/usr/bin:/bin", **more).stdout
    system, machine = platform.system(), platform.machine()
    extras = "'lab,dev,scale,site,compile,halide,emulate,teach,cluster'"
    assert (extras in plan(CI="true")) == ((system, machine) == ("Linux", "x86_64"))
    assert "compile" not in plan()
    assert ".venv 'lab'" in make("--dry-run", "lab", PATH="/usr/bin:/bin", CI="true").stdout


def python_that_answers(folder, version, name="python3"):
    """A stand-in for a Python of another version, which runs what the Makefile asks of one."""
    program = folder / name
    check = f"import sys; sys.version_info = {version}; exec(sys.argv[1])"
    program.write_text(
        f'#!/bin/sh\ntest "$2" = -V && echo "Python {version[0]}.{version[1]}.1" && exit\n'
        f'test "$2" = -c && exec {sys.executable} -c "{check}" "$3"\nexit 9\n'
    )
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("version", "accepted"),
    [((3, 10), False), ((3, 11), True), ((3, 14), True), ((3, 15), False), ((2, 7), False)],
)
def test_a_python_that_is_too_old_or_too_new_is_named(tmp_path, version, accepted):
    program = python_that_answers(tmp_path, version)
    done = make("environment", f"PYTHON={program}", "CUDA_EXTRA=", PATH="/usr/bin:/bin")
    sentence = f"is Python {version[0]}.{version[1]}.1; the course needs Python 3.11 to 3.14"
    assert done.returncode
    assert (sentence in done.stdout) != accepted
    missing = make("environment", "PYTHON=/no/such", PATH="/usr/bin:/bin")
    assert holds(missing.stdout, "PYTHON", "no/such")
    assert "not found" not in missing.stderr


def test_the_python_for_make_is_sought_among_the_supported_ones(tmp_path):
    python_that_answers(tmp_path, (3, 15))
    python_that_answers(tmp_path, (3, 12), "python3.12")
    plan = make("--dry-run", "lab", "CUDA_EXTRA=", PATH=f"{tmp_path}:/usr/bin:/bin").stdout
    assert '"python3.12" -E -m rnncourse.lab.environment  --else-older' in plan
    assert "--python-chosen" in make("--dry-run", "lab", "PYTHON=python3", PATH="/usr/bin:/bin").stdout


def test_packages_of_another_system_are_out_of_the_way(tmp_path):
    program = tmp_path / "python3"
    program.write_text('#!/bin/sh\ntest "$2" = -m && echo "sees<$PYTHONPATH$PYTHONHOME>"\nexit 0\n')
    program.chmod(0o755)
    more = {"PYTHONPATH": "/opt/ros", "PYTHONHOME": "/opt/other", "PATH": "/usr/bin:/bin"}
    assert "sees<>" in make("environment", f"PYTHON={program}", **more).stdout
