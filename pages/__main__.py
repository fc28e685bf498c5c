"""`python -m pages`: build the site into build/site, examine it, and say what there is."""

import argparse
import sys
import time

from nbjudge.files import ROOT
from pages.build import STORED, all_lessons, build
from pages.run import NotRun, stored_run
from pages.verify import problems
from rnncourse.lab.work import REPOSITORY


def main(arguments: list[str] | None = None) -> int:
    """Build and examine; 0 if nothing is wrong with the site, 1 with a sentence for each problem."""
    chosen = parser().parse_args(arguments)
    lessons = [path for path in all_lessons() if not chosen.lessons or path.stem[:2] in chosen.lessons]
    begin = time.perf_counter()
    folder = ROOT / chosen.output
    for path in lessons:
        if path.stem[:2] in chosen.again:
            stored_run(path, STORED).unlink(missing_ok=True)
    try:
        site = build(folder, lessons, chosen.repository, chosen.tag, chosen.pyodide if chosen.lite else None)
    except NotRun as problem:
        print(f"\nno site: {problem}", file=sys.stderr)
        return 1
    sentences = problems(folder)
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    if site.browser:
        print(site.browser)
    if numbers := " ".join(stem[:2] for stem in site.disturbed()):
        print(f"Something else was using the cores while lessons {numbers} ran, and their pages say so.")
        print(f'On a quiet machine: make site OPTIONS="--again {numbers}"')
    files = [file for file in folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    seconds = time.perf_counter() - begin
    print(f"{folder}: {len(files)} files, {size:.1f} MB, in {seconds:.0f} s; open index.html in a browser")
    return int(bool(sentences))


def parser() -> argparse.ArgumentParser:
    """The options of a build."""
    command = argparse.ArgumentParser("python -m pages", description=__doc__.partition("\n")[0])
    option = command.add_argument
    option("--output", default="build/site", help="folder to replace (default: build/site)")
    option("--lessons", nargs="*", metavar="NN", help="build these alone (default: all)")
    option("--again", nargs="*", default=[], metavar="NN", help="run these anew, though results are stored")
    links = "address of the published clone, for links to code and services"
    option("--repository", default=REPOSITORY or None, help=links)
    option("--tag", default="main", help="the tag or branch that those links name")
    option("--lite", action="store_true", help="add lessons that run in the browser")
    option(
        "--pyodide", nargs="*", default=[], metavar="WHERE", help="folders or addresses with Pyodide's files"
    )
    return command


if __name__ == "__main__":
    sys.exit(main())
