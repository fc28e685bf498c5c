"""Build notebooks, exercises, solutions and drawings of this course from their sources, loops from equations.

python -m rnncourse.build          build all that has changed
python -m rnncourse.build --check  change nothing; name every stale, missing or stray file, exit 1 if any
"""

import sys

from nbjudge.authoring.course import main
from nbjudge.course import choose
from nbjudge.files import ROOT
from rnncourse.lab.environment import forget_compiled
from rnnlab.emit import files


def build_loops(is_check: bool) -> int:
    """Write rnnlab's derived loops, or name those that are stale; 1 if a check finds one."""
    paths = files.stale() if is_check else files.write()
    for path in paths:
        print(f"{'stale' if is_check else 'built'} {path}")
    if paths and not is_check:
        forget_compiled(ROOT)  # Numba looks at a loop's own file only, not at those whose functions it calls
    return int(is_check and bool(paths))


if __name__ == "__main__":
    choose("rnncourse.course:COURSE")
    loops = build_loops("--check" in sys.argv)
    sys.exit(main() or loops)
