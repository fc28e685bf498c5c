"""`python -m rnncourse.build`: build notebooks/, exercises/, solutions/ and drawings from their sources."""

import sys

from nbjudge.authoring.course import main

if __name__ == "__main__":
    sys.exit(main())
