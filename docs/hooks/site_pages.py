"""What mkdocs does besides: pages from elsewhere in the repository, the reference, links.

README.md is the site's first page; examples, results and the papers of the house keep their places
in the repository and are shown from there. The reference is made anew by every build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from links import for_site, links_of, target_of
from mkdocs.structure.files import File, Files
from notebooks import page_of
from pymdownx.slugs import slugify
from reference import pages

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
# path in the repository -> path in the site
SHOWN = {
    "README.md": "index.md",
    "RESULTS.md": "results.md",
    "CHANGELOG.md": "changelog.md",
    "OVERVIEW.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "STYLE.md": "style.md",
    "benchmarks/README.md": "benchmarks.md",
    **{
        path.relative_to(ROOT).as_posix(): f"examples/{path.parent.name}.md"
        for path in sorted((ROOT / "examples").glob("*/README.md"))
    },
}
NOTEBOOKS = {  # likewise
    path.relative_to(ROOT).as_posix(): f"notebooks/{path.stem}.md"
    for path in sorted((ROOT / DOCS / "notebooks").glob("*.ipynb"))
}
PICTURES = (".png", ".svg")
SHORT = re.compile(r"<code>(?=[^<\n]{1,30}</code>)")  # what no line's end may cut: no block


def on_config(config: Any) -> Any:
    """Make anchors of headings as repositories show them."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add pages and pictures from elsewhere in the repository, and the reference."""
    for path, place in {**SHOWN, **pictures()}.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    notebooks = {place: page_of(ROOT / path) for path, place in NOTEBOOKS.items()}
    for place, text in {**pages(), **notebooks}.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links from the repository's places to the site's."""
    place = page.file.src_uri
    path = {there: here for here, there in SHOWN.items()}.get(place, f"{DOCS}/{place}")
    return for_site(markdown, path, place, places(files), lambda name: (ROOT / name).exists())


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Mark names in running text and tables that are short: they stay on one line."""
    return SHORT.sub('<code class="whole">', html)


def places(files: Files) -> dict[str, str]:
    """Return where the site has what: path in the repository -> path in the site."""
    own = {f"{DOCS}/{file.src_uri}": file.src_uri for file in files}
    known = {**own, **SHOWN, **NOTEBOOKS, **pictures()}
    folders = {
        posixpath.dirname(path): known[path] for path in known if path.endswith("/README.md")
    }
    return {**known, **folders}


def pictures() -> dict[str, str]:
    """Return the pictures of pages from elsewhere: path in the repository -> path in the site."""
    sources = [*SHOWN, *(path.relative_to(ROOT).as_posix() for path in (ROOT / DOCS).glob("*.md"))]
    found: dict[str, str] = {}
    for page in sources:
        for link in links_of((ROOT / page).read_text(encoding="utf-8")):
            target = target_of(link, page)
            if target and target.path.endswith(PICTURES) and not target.path.startswith("docs/"):
                found[target.path] = f"pictures/{target.path}"
    return found
