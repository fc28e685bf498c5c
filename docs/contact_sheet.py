"""Pictures of all drawings, for a person to look at.

python docs/contact_sheet.py FOLDER [WIDTH] [--grey] [--only NAME ...]

Copies each SVG file of rnncourse/drawings/ to FOLDER and, where Chromium is installed, makes a PNG of it,
WIDTH pixels wide (900 if not stated); --grey shows what a printer without colour makes of it.  A test sees
whether words overlap; only a person sees whether the drawing says its idea.
"""

import argparse
import re
import shutil
import subprocess
from pathlib import Path

from rnncourse.drawings import FOLDER
from rnncourse.figures.pen import WIDTH

PAGE = '<body style="margin:0;width:{width}px;filter:grayscale({grey})">{svg}</body>'
CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
DRAWINGS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.svg"))}


def write_drawing(svg: str, file: Path, width: int, grey: bool, browser: bool) -> None:
    """The drawing as FILE.svg, and through a page of its own as FILE.png."""
    file.with_suffix(".svg").write_text(svg, encoding="utf-8")
    if browser:
        page = file.with_suffix(".html")
        page.write_text(PAGE.format(width=width, grey=int(grey), svg=svg), encoding="utf-8")
        height = int(re.search(r'viewBox="0 0 \d+ (\d+)"', svg)[1])
        size = f"--window-size={width},{height * width // WIDTH}"
        picture = f"--screenshot={file.with_suffix('.png')}"
        subprocess.run([*CHROMIUM, size, picture, page.as_uri()], check=True, stderr=subprocess.DEVNULL)


def main() -> None:
    """Writes the drawings named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("width", type=int, nargs="?", default=WIDTH)
    parser.add_argument("--grey", action="store_true")
    parser.add_argument("--only", nargs="*", choices=[*DRAWINGS], default=[*DRAWINGS])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    browser = shutil.which(CHROMIUM[0]) is not None
    for name in options.only:
        file = options.folder.resolve() / name
        write_drawing(DRAWINGS[name], file, options.width, options.grey, browser)


if __name__ == "__main__":
    main()
