"""Where a file of the clone is on the site, and where else a lesson can be run."""

import posixpath
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

GITHUB = "https://github.com/"
COLAB_BRANCH = "pages"  # the published site, with notebooks that begin with a set-up cell
DOCUMENTS = ("CHANGELOG.md", "CONTRIBUTING.md")  # beside docs/


def page_link(
    url: str, source: str, page: str, repository: str | None, tag: str, absent: Collection[str] = ()
) -> str | None:
    """The address on a page for a link in its source file; None where it leads to nothing that is published.

    `source` and `page` are paths from the clone's and from the site's first folder, `absent` are pages that
    a site of some lessons leaves out.
    """
    parts = urlsplit(url)
    if parts.scheme or url.startswith(("#", "//")):
        return url
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), parts.path))
    place = page_of(target)
    if place is None or place in absent:
        if not repository or target.startswith(("..", "work/")):
            return None
        return f"{repository}/blob/{tag}/{quote(target)}"
    way = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return way + (f"#{parts.fragment}" if parts.fragment else "")


def page_of(target: str) -> str | None:
    """The page of a file of the clone, such as lessons/02_bptt.html; None if it has none."""
    path = PurePosixPath(target)
    folder = path.parent.as_posix()
    stem = path.stem
    if path.suffix == ".ipynb" and folder in ("notebooks", "exercises", "work"):
        return f"{'lessons' if folder == 'notebooks' else 'exercises'}/{stem}.html"
    if target == "README.md":
        return "index.html"
    if path.suffix == ".md" and (folder == "docs" or target in DOCUMENTS):
        return f"documents/{stem.lower()}.html"
    if path.suffix == ".json" and folder == "rnncourse/records/measured":
        return f"records/{stem}.html"
    return None


def documents(root: Path) -> Iterator[tuple[str, str]]:
    """(file of the clone, page) of every document, in the order of their names."""
    names = [*sorted(path.relative_to(root).as_posix() for path in root.glob("docs/**/*.md")), *DOCUMENTS]
    yield from ((name, page) for name in names if (page := page_of(name)))


def services(repository: str | None, tag: str, notebook: str) -> Iterator[tuple[str, str]]:
    """(address, service) that open a notebook in Colab and Binder; none without a repository on GitHub."""
    if not (repository or "").startswith(GITHUB):
        return
    name = repository.removeprefix(GITHUB).strip("/")
    yield f"https://colab.research.google.com/github/{name}/blob/{COLAB_BRANCH}/colab/{notebook}", "Colab"
    yield f"https://mybinder.org/v2/gh/{name}/{tag}?urlpath=lab/tree/{quote(notebook, safe='')}", "Binder"
