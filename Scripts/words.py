#!/usr/bin/env python3
"""Checks that each word of the glossary in Docs/Architecture.md names one family of types.

  words.py [ROOT]

A row of the glossary has a word, its meaning, and its types, separated by commas; `*` stands for any characters. A type of
the library whose name has the word as one of its parts must be named in the row, and each name in the row must be that of
a type. So a new type takes another word, or its row is changed on purpose.
"""

import fnmatch
import pathlib
import re
import sys

LARGEST_GLOSSARY = 20
TYPE = re.compile(
    r"^ *(?:@\w+(?:\([^)]*\))?\s+)*"
    r"(?:(?:public|package|internal|private|fileprivate|final|indirect)\s+)*"
    r"(?:class|struct|enum|protocol|actor|typealias)\s+(?!func\b|var\b|let\b|subscript\b|override\b)(\w+)",
    re.MULTILINE,
)
ROW = re.compile(r"^\| (?P<word>[a-z]+) \| [^|]+ \| (?P<types>[^|]+) \|$", re.MULTILINE)


def complaints(root):
    text = (root / "Docs" / "Architecture.md").read_text(encoding="utf-8")
    glossary = re.search(r"^## Words\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    rows = list(ROW.finditer(glossary.group(1))) if glossary else []
    if not rows:
        yield "Docs/Architecture.md has no glossary under the heading Words"
    if len(rows) > LARGEST_GLOSSARY:
        yield f"the glossary has {len(rows)} words; at most {LARGEST_GLOSSARY} can be remembered"
    declared = {}
    for path in sorted((root / "Sources").rglob("*.swift")):
        if ".docc" not in str(path):
            for name in TYPE.findall(path.read_text(encoding="utf-8")):
                declared.setdefault(name, path.relative_to(root))
    for row in rows:
        word = row["word"].capitalize()
        named = re.findall(r"`([^`]+)`", row["types"])
        part = re.compile(rf"(?:^|(?<=[a-z0-9])){word}(?:s|es|ed|ing)?(?=[A-Z]|$)")
        for name, path in declared.items():
            if part.search(name) and not any(fnmatch.fnmatchcase(name, pattern) for pattern in named):
                yield f"{path}: the type {name} uses the word “{row['word']}”, which the glossary has for other types"
        for pattern in named:
            if not fnmatch.filter(declared, pattern):
                yield f"Docs/Architecture.md: the glossary names the type {pattern}, which is not there"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = list(complaints(root))
    for complaint in found:
        print(complaint)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
