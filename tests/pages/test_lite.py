"""Lessons in the browser: every file of Pyodide has its checksum, the course is a package of it, or why not.

docs/install.md says what was run in Chromium.
"""

import hashlib
import json
import zipfile

import pytest

from pages import lite

DIGEST = hashlib.sha256(b"n").hexdigest()
LOCK = {"info": {"python": "3.14.2"}, "packages": {
    "numpy": {"name": "numpy", "file_name": "numpy.whl", "depends": [], "sha256": DIGEST},
    "matplotlib": {"name": "matplotlib", "file_name": "m.whl", "depends": ["numpy", "Six"], "sha256": ""},
    "six": {"name": "six", "file_name": "six.whl", "depends": [], "sha256": ""},
    "numba": {"name": "numba", "file_name": "numba.whl", "depends": [], "sha256": ""},
}}  # fmt: skip


@pytest.fixture
def pyodide(tmp_path, monkeypatch):
    """A folder with a small Pyodide, whose files have the checksums that are pinned."""
    folder = tmp_path / "pyodide"
    folder.mkdir()
    (folder / "pyodide.mjs").write_bytes(b"core")
    (folder / "pyodide-lock.json").write_text(json.dumps(LOCK))
    (folder / "numpy.whl").write_bytes(b"n")
    core = {
        name: [lite.checksum((folder / name).read_bytes())] for name in ("pyodide.mjs", "pyodide-lock.json")
    }
    pinned = tmp_path / "pyodide.json"
    pinned.write_text(json.dumps({"version": "1", "core": core}))
    monkeypatch.setattr(lite, "PINNED", pinned)
    monkeypatch.setattr(lite, "NEEDED", ("numpy",))
    return folder


def wheel(folder, name, version, needed=(), imports=("a",)):
    """A wheel of pure Python with one module each."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {line}" for line in needed)]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join(lines) + "\n\n")
        for module in imports:
            archive.writestr(f"{module}/__init__.py", "")
    return path


def test_files_are_taken_from_the_first_place_that_has_them_unchanged(pyodide, tmp_path):
    changed = tmp_path / "changed"
    changed.mkdir()
    (changed / "numpy.whl").write_bytes(b"something else")
    target = lite.fetch_pyodide([str(changed), str(pyodide)], tmp_path / "build")
    assert (target / "numpy.whl").read_bytes() == b"n"
    (pyodide / "numpy.whl").unlink()
    assert lite.fetch_pyodide([str(changed)], tmp_path / "build") == target  # nothing is fetched twice


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda path: path.unlink(), r"numpy\.whl is not available .*No such file"),
        (
            lambda path: path.write_bytes(b"evil"),
            r"numpy\.whl is not available .*another file, its checksum differs",
        ),
    ],
)
def test_a_missing_or_changed_file_leaves_the_browser_out_and_is_named(pyodide, tmp_path, damage, sentence):
    damage(pyodide / "numpy.whl")
    with pytest.raises(lite.NotBuilt, match=sentence):
        lite.fetch_pyodide([str(pyodide)], tmp_path / "build")
    assert not (tmp_path / "build/pyodide-1/numpy.whl").exists()


def test_an_unreachable_address_is_named(pyodide, tmp_path):
    with pytest.raises(lite.NotBuilt, match=r"http://127\.0\.0\.1:9/none"):
        lite.fetch_pyodide(["http://127.0.0.1:9/none"], tmp_path / "build")


def test_packages_are_followed_to_what_they_need(pyodide, monkeypatch):
    monkeypatch.setattr(lite, "NEEDED", ("matplotlib",))
    assert lite.packages_of(pyodide).keys() == {"matplotlib", "numpy", "six"}


def test_the_list_of_packages_names_the_course_and_drops_what_is_not_there(pyodide, tmp_path):
    wheels = [
        wheel(
            tmp_path,
            "rnnlab",
            "0.1.0",
            ["numpy>=2.1", "psutil; sys_platform != 'emscripten'", 'Jedi_X; extra == "first"'],
            ["rnnlab"],
        ),
        wheel(tmp_path, "Jedi_X", "1", ["rnnlab", "six; extra == 'more'"], ["jedi", "jedi_more"]),
        wheel(tmp_path, "numpy", "9"),
        wheel(tmp_path, "widgetsnbextension", "4"),
    ]
    lite.install_pyodide(pyodide, wheels, tmp_path / "out")
    lock = json.loads((tmp_path / "out/pyodide-lock.json").read_text())
    assert lock["info"] == LOCK["info"]
    assert lock["packages"].keys() == {"numpy", "rnnlab", "jedi-x"}
    assert lock["packages"]["numpy"] == LOCK["packages"]["numpy"]
    rnnlab = lock["packages"]["rnnlab"]
    assert (rnnlab["imports"], rnnlab["depends"]) == (["rnnlab"], ["jedi-x", "numpy"])
    assert rnnlab["sha256"] == lite.checksum((tmp_path / "out" / rnnlab["file_name"]).read_bytes())
    assert lock["packages"]["jedi-x"]["depends"] == ["rnnlab"]
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert {entry["file_name"] for entry in lock["packages"].values()} < files
    assert not {"numpy-9-py3-none-any.whl", "widgetsnbextension-4-py3-none-any.whl"} & files


def test_the_browser_takes_pyodide_from_the_site_alone(tmp_path):
    (tmp_path / "jupyter-lite.json").write_text('{"jupyter-config-data": {"appName": "a"}}')
    lite.write_settings(tmp_path)
    settings = json.loads((tmp_path / "jupyter-lite.json").read_text())["jupyter-config-data"]
    assert (settings["appName"], settings["exposeAppInBrowser"]) == ("a", True)
    kernel = settings["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert kernel == {"pyodideUrl": "./static/pyodide/pyodide.mjs", "disablePyPIFallback": True}


def test_pyodide_is_taken_from_the_package_that_carries_it(pyodide, tmp_path, monkeypatch):
    pinned = json.loads(lite.PINNED.read_text())
    lite.PINNED.write_text(json.dumps(pinned | {"carrier": {"package": "carrier==1", "folder": "a/py/"}}))

    def download(*words):
        with zipfile.ZipFile(
            f"{words[words.index('--dest') + 1]}/carrier-1-py3-none-any.whl", "w"
        ) as archive:
            for file in pyodide.iterdir():
                archive.write(file, f"a/py/{file.name}")

    monkeypatch.setattr(lite, "run_pip", download)
    carried = lite.carried_pyodide(tmp_path)
    assert (lite.fetch_pyodide([str(carried)], tmp_path / "build") / "numpy.whl").read_bytes() == b"n"
    monkeypatch.setattr(lite, "run_pip", None)
    assert lite.carried_pyodide(tmp_path) == carried  # nothing is downloaded twice


def test_without_jupyterlite_the_sentence_names_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(lite, "find_spec", lambda name: None)
    with pytest.raises(lite.NotBuilt, match=r"jupyterlite_core.*jupyterlite_pyodide_kernel"):
        lite.add_lite(tmp_path, ["anywhere"])
