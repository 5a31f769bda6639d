#!/usr/bin/env python3
"""Writes the table of public suffixes anew from a copy of the Public Suffix List.

  public-suffixes.py [LIST]      by default the copy of Debian's package `publicsuffix`

The list is at https://publicsuffix.org/list/public_suffix_list.dat, and in the package `publicsuffixlist` of PyPI. The
table is Sources/WaystationHTTP/Cookies/PublicSuffixes/PublicSuffixTable+List.swift; its head comment describes the form.
"""

import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).parent.parent / "Sources/WaystationHTTP/Cookies/PublicSuffixes/PublicSuffixTable+List.swift"
# The longest line of the table, without its indentation.
WIDTH = 112

HEAD = '''\
// This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
// distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.
//
// Written by Scripts/public-suffixes.py from the Public Suffix List (https://publicsuffix.org),
// version {version}.

extension PublicSuffixTable {{
    /// The rules of the Public Suffix List for names of two labels and more.
    ///
    /// A line has a parent name, whose labels stand in reverse order, and then the first labels of rules below this name,
    /// sorted: `uk ac co` has the rules `ac.uk` and `co.uk`. `*` stands for every label, and `!` begins an exception. A
    /// parent with many rules has several lines. The lines are sorted by their bytes, and all names are in lower case and
    /// in their `xn--` form.
    static let list: StaticString = """
'''


def ascii_label(label):
    return label if label.isascii() else "xn--" + label.encode("punycode").decode()


def rules(text):
    """The rules as pairs of a parent, in reverse order, and a first label."""
    for line in text.splitlines():
        rule = line.split()[0] if line.strip() else ""
        if not rule or rule.startswith("//") or "." not in rule:
            continue
        mark = "!" if rule.startswith("!") else ""
        first, *parents = [ascii_label(label) for label in rule.removeprefix("!").lower().split(".")]
        yield ".".join(reversed(parents)), mark + first


def lines(pairs):
    children = {}
    for parent, label in pairs:
        children.setdefault(parent, set()).add(label)
    for parent, labels in children.items():
        line = parent
        for label in sorted(labels):
            if line != parent and len(line) + 1 + len(label) > WIDTH:
                yield line
                line = parent
            line += " " + label
        yield line


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/publicsuffix/public_suffix_list.dat"
    text = pathlib.Path(source).read_text(encoding="utf-8")
    found = re.search(r"^// VERSION: (\S+)", text, re.MULTILINE)
    table = sorted(lines(rules(text)), key=lambda line: line.encode())
    if len(table) < 1_000:
        sys.exit(f"{source} is not the Public Suffix List: only {len(table)} lines of rules were found")
    with TABLE.open("w", encoding="utf-8") as file:
        file.write(HEAD.format(version=found.group(1) if found else "of " + source))
        for line in table:
            file.write(" " * 8 + line + "\n")
        file.write(" " * 8 + '"""\n}\n')
    print(f"{TABLE.name}: {len(table)} lines, {TABLE.stat().st_size} bytes")


main()
