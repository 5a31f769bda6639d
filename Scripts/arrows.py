#!/usr/bin/env python3
"""Prints the arrows between the folders of each target, and fails where they form a circle.

  arrows.py [--quiet] [ROOT]      every target in ROOT/Sources; the project's own by default

The folders within a folder are examined like those of a target.

A folder uses another one when a file of it names a type, function or constant that a file of the other one declares at
its top level and that is not private. The files beside the folders count as a folder, called ".". Comments and string literals do not count. Files in
one folder may use each other, in circles of at most LARGEST_CIRCLE files, since a circle is what one has to read at
once.
"""

import contextlib
import io
import pathlib
import re
import sys

# The largest number of files that may use each other in a circle.
LARGEST_CIRCLE = 10

DECLARATION = re.compile(
    r"^(?:@[\w.]+(?:\([^)]*\))?\s+)*"
    r"(?P<modifiers>(?:(?:public|package|internal|fileprivate|private|final|indirect|nonisolated|distributed)\s+)*)"
    r"(?:class|struct|enum|protocol|actor|typealias|func|let|var)\s+(?P<name>\w+)"
)
IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
# Comments, strings, and conditions of compilation, which may be named like a type.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"""(?:\\.|.)*?"""|"(?:\\.|[^"\\\n])*"|#if [^\n]*', re.DOTALL)


class File:
    def __init__(self, path, folder):
        self.path = path.relative_to(folder)
        self.folder = self.path.parts[0] if len(self.path.parts) > 1 else "."
        text = NOISE.sub(" ", path.read_text(encoding="utf-8"))
        found = [match for line in text.splitlines() if (match := DECLARATION.match(line))]
        self.declared = {match["name"] for match in found}
        # Other files cannot name the rest.
        self.visible = {match["name"] for match in found if "private" not in match["modifiers"]}
        self.named = set(IDENTIFIER.findall(text))

    def __str__(self):
        return str(self.path)


def uses(files):
    """The files that each file uses."""
    owners = {}
    for file in files:
        for name in file.visible:
            owners.setdefault(name, []).append(file)
    result = {}
    for file in files:
        names = (file.named - file.declared) & owners.keys()
        result[file] = {owner for name in names for owner in owners[name] if owner is not file}
    return result


def circles(nodes, arrows):
    """The strongly connected sets of more than one node, the largest first (Tarjan, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(sorted(arrows[root], key=str)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            child = next(rest, None)
            if child is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = set()
                    while not circle or member is not node:
                        member = stack.pop()
                        on_stack.discard(member)
                        circle.add(member)
                    if len(circle) > 1:
                        found.append(circle)
            elif child not in index:
                index[child] = low[child] = len(index)
                stack.append(child)
                on_stack.add(child)
                work.append((child, iter(sorted(arrows[child], key=str))))
            elif child in on_stack:
                low[node] = min(low[node], index[child])
    return sorted(found, key=len, reverse=True)


def examine(folder, title):
    """Prints one target or folder, and the folders in it; returns the complaints about them."""
    # The programs of the documentation's tutorials are not part of the target.
    files = [File(path, folder) for path in sorted(folder.rglob("*.swift")) if ".docc/" not in str(path)]
    used = uses(files)
    names = sorted({file.folder for file in files})
    arrows = {name: set() for name in names}
    examples = {}
    for file in files:
        for other in used[file]:
            if other.folder != file.folder:
                arrows[file.folder].add(other.folder)
                examples.setdefault((file.folder, other.folder), []).append(f"{file.path} uses {other.path}")
    if names == ["."] and "/" in title:
        return []
    print(f"{title}: {len(files)} files")
    for name in names:
        if arrows[name]:
            print(f"  {name} -> {', '.join(sorted(arrows[name]))}")
    for name in names:
        inside = [file for file in files if file.folder == name]
        within = {file: {other for other in used[file] if other.folder == name} for file in inside}
        for circle in circles(inside, within)[:1]:
            print(f"  largest circle of files in {name}: {len(circle)}")
    complaints = []
    for circle in circles(files, used)[:1]:
        print(f"  largest circle of files: {len(circle)}")
        if len(circle) > LARGEST_CIRCLE:
            paths = ", ".join(sorted(str(file.path) for file in circle))
            complaints.append(f"{title}: {len(circle)} files use each other in a circle: {paths}")

    pairs = sorted((a, b) for a, b in examples if a < b and (b, a) in examples)
    for a, b in pairs:
        print(f"  BOTH WAYS: {a} <-> {b}")
        complaints.append(f"{title}: {a} and {b} use each other")
        for direction in ((a, b), (b, a)):
            print("".join(f"    {line}\n" for line in sorted(examples[direction])[:5]), end="")
    if not pairs:
        for circle in circles(names, arrows):
            complaints.append(f"{title}: {', '.join(sorted(circle))} form a circle")
    for name in names:
        if name != ".":
            complaints += examine(folder / name, f"{title}/{name}")
    return complaints


def main():
    arguments = sys.argv[1:]
    is_quiet = arguments[:1] == ["--quiet"]
    arguments = arguments[is_quiet:]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    targets = sorted(path for path in (root / "Sources").iterdir() if any(path.rglob("*.swift")))
    complaints = []
    for target in targets:
        with contextlib.redirect_stdout(io.StringIO() if is_quiet else sys.stdout):
            complaints += examine(target, target.name)
    if complaints:
        sys.exit("\n".join(complaints))


main()
