#!/usr/bin/env python3
"""Draws the sequence diagrams of the strategies, each for light and for dark pages, and those of the tutorials.

    sequence-diagrams.py           writes the pictures beside the articles
    sequence-diagrams.py --check   fails if a picture differs from what would be written
"""
import pathlib
import sys
from html import escape

FOLDER = pathlib.Path(__file__).parent.parent / "Sources/Waystation/Waystation.docc"
APP, CACHE, SERVER = 90, 380, 670
WIDTH, TOP, STEP = 760, 64, 40

# A step is an arrow (from, to, text), or a note above a line of its own.
DIAGRAMS = {
    "standard": [
        "while the response is fresh by its fields",
        (APP, CACHE, "GET"), (CACHE, APP, "stored response"),
        "after that",
        (APP, CACHE, "GET"), (CACHE, SERVER, "GET, If-None-Match"), (SERVER, CACHE, "304: its fields are refreshed"),
        (CACHE, APP, "stored response"),
    ],
    "revalidate": [
        "always",
        (APP, CACHE, "GET"), (CACHE, SERVER, "GET, If-None-Match"), (SERVER, CACHE, "304, or 200 with a new body"),
        (CACHE, APP, "stored response, or the new one"),
        "without a network",
        (APP, CACHE, "GET"), (CACHE, APP, "stored response, however old"),
    ],
    "cache-first": [
        "until the stored response is as old as the limit",
        (APP, CACHE, "GET"), (CACHE, APP, "stored response"),
        "after that",
        (APP, CACHE, "GET"), (CACHE, SERVER, "GET, If-None-Match"), (SERVER, CACHE, "304, or 200: stored"),
        (CACHE, APP, "response"),
    ],
    "network-first": [
        "the server answers within the time",
        (APP, CACHE, "GET"), (CACHE, SERVER, "GET, If-None-Match"), (SERVER, CACHE, "304, or 200: stored"),
        (CACHE, APP, "response"),
        "the server is late, or cannot be reached",
        (APP, CACHE, "GET"), (CACHE, SERVER, "GET, If-None-Match"), (CACHE, APP, "stored response, however old"),
        (SERVER, CACHE, "a late answer is still stored"),
    ],
    "stale-while-revalidate": [
        "until the stored response is as old as the limit",
        (APP, CACHE, "GET"), (CACHE, APP, "stored response, at once"),
        (CACHE, SERVER, "GET, If-None-Match, in the background"), (SERVER, CACHE, "304, or 200: stored"),
        "after that",
        (APP, CACHE, "GET"), (CACHE, SERVER, "GET, If-None-Match"), (SERVER, CACHE, "304, or 200: stored"),
        (CACHE, APP, "response"),
    ],
    "cache-only": [
        "a response is stored",
        (APP, CACHE, "GET"), (CACHE, APP, "stored response, however old"),
        "no response is stored",
        (APP, CACHE, "GET"), (CACHE, APP, "the load fails: notStored"),
    ],
    "network-only": [
        "always; nothing is stored",
        (APP, SERVER, "GET"), (SERVER, APP, "response"),
    ],
}
# Smaller ones for the contents of the tutorials, a page that is always dark: the names above the lines, and the steps.
LEFT, MIDDLE, RIGHT = 60, 190, 320
CHAPTERS = {
    "tutorial-loading": (
        ("App", "Cache", "Server"),
        [
            "the first run",
            (LEFT, MIDDLE, "GET"), (MIDDLE, RIGHT, "GET"), (RIGHT, MIDDLE, "200: stored"), (MIDDLE, LEFT, "response"),
            "the second run, without a network",
            (LEFT, MIDDLE, "GET"), (MIDDLE, LEFT, "stored response"),
        ],
    ),
    "tutorial-testing": (
        ("Test", "Client", "Stubs"),
        [
            "the service is busy once",
            (LEFT, MIDDLE, "report"), (MIDDLE, RIGHT, "GET"), (RIGHT, MIDDLE, "503"), (MIDDLE, RIGHT, "GET"),
            (RIGHT, MIDDLE, "200"), (MIDDLE, LEFT, "report"),
        ],
    ),
}

COLOURS = {
    "": {"text": "#1d1d1f", "line": "#86868b", "arrow": "#0057b8", "box": "#f5f5f7"},
    "~dark": {"text": "#f5f5f7", "line": "#8e8e93", "arrow": "#6cb4ff", "box": "#2c2c2e"},
}


def picture(steps, lanes, width, colour):
    rows, y = [], TOP + 26
    for step in steps:
        if isinstance(step, str):
            y += 6
            rows.append(f'<text x="20" y="{y}" font-style="italic" fill="{colour["line"]}">{escape(step)}</text>')
            y += STEP - 10
            continue
        start, end, text = step
        tip = -7 if end > start else 7
        rows.append(f'<path d="M{start} {y}H{end + tip}" stroke="{colour["arrow"]}" stroke-width="1.6"/>')
        rows.append(f'<path d="M{end} {y}l{tip} -4v8z" fill="{colour["arrow"]}"/>')
        middle = (start + end) // 2
        rows.append(f'<text x="{middle}" y="{y - 6}" text-anchor="middle" fill="{colour["text"]}">{escape(text)}</text>')
        y += STEP
    height = y - 10
    lines = []
    for x, name in lanes:
        lines.append(f'<path d="M{x} {TOP - 20}V{height}" stroke="{colour["line"]}" stroke-dasharray="3 4"/>')
        lines.append(f'<rect x="{x - 50}" y="14" width="100" height="30" rx="6" fill="{colour["box"]}"/>')
        lines.append(f'<text x="{x}" y="34" text-anchor="middle" font-weight="600" fill="{colour["text"]}">{name}</text>')
    body = "\n".join(lines + rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 10}" '
        f'viewBox="0 0 {width} {height + 10}" font-family="sans-serif" font-size="13">\n{body}\n</svg>\n'
    )


def pictures():
    """The text of each picture, by the name of its file."""
    lanes = ((APP, "App"), (CACHE, "Cache"), (SERVER, "Server"))
    for name, steps in DIAGRAMS.items():
        for suffix, colour in COLOURS.items():
            yield f"strategy-{name}{suffix}.svg", picture(steps, lanes, WIDTH, colour)
    for name, (names, steps) in CHAPTERS.items():
        lanes = zip((LEFT, MIDDLE, RIGHT), names)
        yield f"{name}.svg", picture(steps, lanes, WIDTH // 2, COLOURS["~dark"])


def main():
    different = []
    for name, text in pictures():
        file = FOLDER / name
        if "--check" not in sys.argv:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            different.append(name)
    if different:
        sys.exit("not as Scripts/sequence-diagrams.py draws them: " + ", ".join(different))


main()
