"""site.py prepare BOOKS SITE: prepares the books of ci/site. site.py check SITE: checks the links of its pages."""

import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

GUIDE = Path("futhark-safe/guide")
# Folders without documents for readers.
SKIPPED = re.compile(r"\.|target|guide$|programs$|template|tests$|src$")


def documents():
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(name for name in folders if not SKIPPED.match(name))
        yield from (os.path.normpath(f"{folder}/{name}") for name in sorted(names) if name.endswith(".md"))


def prepare(books, site):
    # Where the pages of the site come from; paths are those in the repository.
    places = {str(page): f"guide/{page.name}" for page in GUIDE.glob("src/*.md")}
    places.update((page, f"documents/{page}") for page in documents())
    summary = "# Summary\n\n"
    for page, place in places.items():
        text = Path(page).read_text()
        book, name = place.split("/", 1)
        copy = Path(books, book, "src", name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(with_links_of_site(text, page, places, site))
        if book == "documents":
            title = re.search(r"^# (.*)", text, re.M)
            summary += f"- [{title.group(1) if title else name}]({name})\n"
    Path(books, "documents/src/SUMMARY.md").write_text(summary)


def with_links_of_site(text, page, places, site):
    """Links to pages of the site stay. Links to other files become text, or lead to their source in the documentation."""

    def moved(match):
        target, hash_sign, anchor = match[2].partition("#")
        if not target or re.match(r"[a-z]+:|\.\./api/", target):
            return match[0]
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        source = re.sub(r"^(futhark)-(\w+)/src/(.*)$", r"api/src/\1_\2/\3.html", path)
        place = places.get(path) or (source if Path(site, source).is_file() else None)
        if place is None:
            return match[1]
        return f"[{match[1]}]({os.path.relpath(place, os.path.dirname(places[page]))}{hash_sign}{anchor})"

    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    parts[::2] = [re.sub(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)", moved, part) for part in parts[::2]]
    return "".join(parts)


def check(site):
    wrong = 0
    for page in [Path(site, "index.html"), *Path(site, "guide").rglob("*.html"), *Path(site, "documents").rglob("*.html")]:
        if page.name in ("404.html", "print.html", "toc.html"):
            continue
        for link in re.findall(r'\s(?:href|src)="([^"]*)"', page.read_text()):
            target, _, anchor = link.partition("#")
            path = page.parent / unquote(target) if target else page
            if re.match(r"[a-z]+:|//", target) or path.is_file() and has_anchor(path, unquote(anchor)):
                continue
            print(f"{page.relative_to(site)}: {link} leads nowhere")
            wrong += 1
    return wrong == 0


def has_anchor(path, anchor):
    return not anchor or path.suffix != ".html" or f'id="{anchor}"' in path.read_text()


if __name__ == "__main__":
    {"prepare": prepare, "check": lambda site: check(site) or sys.exit(1)}[sys.argv[1]](*sys.argv[2:])
