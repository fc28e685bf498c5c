"""Build notebooks, exercises, solutions and drawings of this course from their sources.

python -m rnncourse.build          build all that has changed
python -m rnncourse.build --check  change nothing; name every stale, missing or stray file, exit 1 if any
"""

import sys

from nbjudge.authoring.course import main
from nbjudge.course import choose

if __name__ == "__main__":
    choose("rnncourse.course:COURSE")
    sys.exit(main())
