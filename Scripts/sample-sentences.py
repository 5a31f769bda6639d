#!/usr/bin/env python3
"""Picks twenty sentences at random, to be read by themselves: sample-sentences.py [SEED]

Five each come from the README and the change log, from the articles and documents, from comments, and from messages. A
sentence of a documentation comment is shown with the declaration, and with the parameter, that it describes, as an
editor shows it. A sentence that cannot be understood without what else stands around it is rewritten, and the next seed
is tried.
"""
import pathlib
import random
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNT = 5
# The beginnings of lines that hold no sentence: headings, tables, HTML, pictures, quotations, and directives of DocC.
NO_TEXT = ("#", "|", "<", "alt=", "!", ">", "@", "}")
# A full stop, a question or an exclamation mark, and then the beginning of another sentence.
END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?!(?<=\?)\s+\")\s+(?=[A-Z`*\[“\"0-9])")
# A literal of several lines, or of one, in which an interpolation may have literals, too.
LITERAL = re.compile(
    r'"""\n(.*?)"""|"((?:[^"\\\n]|\\\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)|\\.)*)"', re.S
)
# The beginning of a statement in SQL, or words of scripts in Lua and JavaScript and of servers' settings.
OTHER_LANGUAGE = re.compile(
    r"^(SELECT|INSERT|CREATE|UPDATE|DELETE|WITH|PRAGMA)\b|redis\.call|=> \{|\bconst \w|\bServerName\b|\bworker_processes\b"
)


def sentences(paragraph):
    """The sentences of a paragraph with four words or more."""
    for text in END.split(" ".join(paragraph.split())):
        if len(text.split()) >= 4 and not re.fullmatch(r"(?:[-·:,.]|\[[^]]*\]\([^)]*\)|\s)+", text):
            yield text


def of_markdown(file):
    """The sentences of a document's paragraphs and items; code, tables, headings and directives are left out."""
    found, lines, start, in_code = [], [], 0, False
    for number, line in enumerate(file.read_text().splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
            line = ""
        if in_code:
            continue
        item = re.match(r"\s*(?:[-*]|\d+\.)\s+", line)
        ends = item or not line.strip() or line.lstrip().startswith(NO_TEXT)
        if ends and lines:
            found += [(f"{file.relative_to(ROOT)}:{start}", text) for text in sentences(" ".join(lines))]
            lines = []
        if not line.strip() or line.lstrip().startswith(NO_TEXT):
            continue
        if not lines:
            start = number
        lines.append(line[item.end():] if item else line)
    return found


def declaration(lines, number):
    """The declaration below a documentation comment that begins in a line."""
    for line in lines[number - 1:]:
        text = line.strip()
        if text and not text.startswith(("//", "@")):
            return text.rstrip(" {(")
    return ""


def of_comments(file):
    """The sentences of a source file's comments; examples in them are left out."""
    found, lines, start, label, in_code = [], [], 0, None, False
    source = file.read_text().splitlines()
    for number, line in enumerate(source + [""], 1):
        match = re.match(r"\s*///? ?(?!MARK:)(.*)", line)
        text = match.group(1) if match else None
        if text is not None and text.strip().startswith("```"):
            in_code, text = not in_code, ""
        item = re.match(r"\s*- (?:((?:Parameters?|Returns|Throws|Complexity)\b[^:]*|\w+):)?\s*", text or "")
        if (not text or not text.strip() or item) and lines:
            place = f"{file.relative_to(ROOT)}:{start}"
            if source[start - 1].lstrip().startswith("///"):
                place += f"  {declaration(source, start)}" + (f", {label}" if label else "")
            found += [(place, one) for one in sentences(" ".join(lines))]
            lines = []
        if text is None:
            in_code = False
        if not text or not text.strip() or in_code:
            continue
        if not lines:
            start, label = number, item and item.group(1)
        lines.append(text[item.end():] if item else text)
    return found


def of_messages(file):
    """The texts for people in a source file's code: literals of five words or more, without their line breaks.

    Literals that `+` joins are one text. A literal that begins with a comma or a semicolon continues another text, and is
    left out.
    """
    code = "\n".join("" if line.lstrip().startswith("//") else line for line in file.read_text().splitlines())
    joined = re.sub(r'(?<![\\"])"\s*\+\s*"(?!")', lambda match: " " * len(match.group()), code)
    found = []
    for match in LITERAL.finditer(joined):
        text = " ".join((match.group(1) or match.group(2) or "").replace("\\\n", " ").split())
        words = [word for word in text.split() if re.fullmatch(r"[A-Za-z][a-z'’]*[,.:;]?", word)]
        if len(words) >= 5 and not OTHER_LANGUAGE.search(text) and not text.startswith((",", ";", ":", ")")):
            line = code.count("\n", 0, match.start()) + 1
            found += [(f"{file.relative_to(ROOT)}:{line}", one) for one in sentences(text)]
    return found


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    source = sorted((ROOT / "Sources").rglob("*.swift"))
    catalogue = ROOT / "Sources/Waystation/Waystation.docc"
    documents = [
        *sorted(catalogue.glob("*.md")), *sorted(catalogue.rglob("*.tutorial")), *sorted((ROOT / "Docs").rglob("*.md"))
    ]
    groups = {
        "README and change log": [row for name in ("README.md", "CHANGELOG.md") for row in of_markdown(ROOT / name)],
        "articles and documents": [row for file in documents for row in of_markdown(file)],
        "comments": [row for file in source for row in of_comments(file)],
        "messages": [row for file in source for row in of_messages(file)],
    }
    chance = random.Random(seed)
    number = 0
    for name, rows in groups.items():
        print(f"{name} ({len(rows)} sentences)")
        for place, text in chance.sample(rows, COUNT):
            number += 1
            print(textwrap.fill(f"{number:2}. {text}", 118, subsequent_indent="    "))
            print(f"    [{place}]")


main()
