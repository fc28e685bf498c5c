"""Progress of a benchmark on the terminal's last line, which is overwritten again and again."""

import sys


def show_progress(text: str) -> None:
    """Overwrite the last line; print nothing where standard error is not a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
