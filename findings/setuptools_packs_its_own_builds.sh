#!/usr/bin/env bash
# Versions:  setuptools 80.9.0, pip 25.2, CPython 3.11
# Expected:  a package whose modules lie beside its pyproject.toml, package-dir = {flat = "."}, gives the same wheel each time.
# Guess:     the folder build/ that a build leaves behind in the tree is not read by the next one.
# Seen:      package data by "**/*.js" finds the copies in build/lib. The second wheel holds one stale copy, the third holds that
#            and a copy of it one level deeper, and so on: each build adds a level. No warning.
# Why here:  pocketgpu is built alone from such a folder; `pip install ./pocketgpu` put build/ among the sources that tests count,
#            and the next wheel had four files more. Its pyproject.toml puts build/ outside that folder now.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pip==25.2 setuptools==80.9.0
mkdir -p "$work/flat/page"
cd "$work/flat"
echo 'READY = True' > __init__.py
echo 'console.log(1)' > page/view.js
cat > pyproject.toml <<'TOML'
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "flat"
version = "1"

[tool.setuptools]
packages = ["flat"]
package-dir = {flat = "."}

[tool.setuptools.package-data]
flat = ["**/*.js"]
TOML
counts=""
for number in 1 2 3; do
  "$work/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work/$number" .
  counts="$counts $("$work/venv/bin/python" -m zipfile -l "$work/$number"/flat-1-*.whl | grep -c 'view.js')"
done
echo "copies of view.js in the wheels:$counts"
test "$counts" = " 1 2 3"
