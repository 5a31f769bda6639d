#!/usr/bin/env python3
"""Counts what a reader opens who follows one load, or one update, through the sources.

    Scripts/walk.py [WAY]...     all six ways, or those whose names are given

Each way is walked 5 times and 25 times by a program that counts the calls of each function (coverage). A function that was
called at least 20 times more the second time is part of the way: set-up and timers are not. The files of these functions
are what a reader opens; the lines and the declared types are those of the whole files.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".build" / "walk"
WAYS = ["memory-hit", "stored-miss", "stored-miss-nio", "pack-hit", "gateway-pack-file", "content-patch"]
# The origin of the loads.
SERVERS = {"WaystationOrigin", "WaystationTesting", "WaystationTestSupport"}
TYPE = re.compile(r"^ *(?:(?:public|package|private|fileprivate|final|indirect)\s+)*(?:class|struct|enum|protocol|actor)\s+\w", re.M)


def tool(name):
    """The path of a tool that belongs to the toolchain; the system may have another version of it."""
    return str(pathlib.Path(shutil.which("swift")).resolve().parent / name)


def build():
    subprocess.run(
        ["swift", "build", "--disable-build-manifest-caching", "--package-path", str(ROOT / "Benchmarks"),
         "--scratch-path", str(SCRATCH), "--quiet", "--product", "walk",
         "-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping"],
        check=True,
    )
    return SCRATCH / "debug" / "walk"


def calls(program, way, count):
    """How often each function of the sources was called: by file and name."""
    with tempfile.TemporaryDirectory() as folder:
        raw, data = f"{folder}/raw", f"{folder}/data"
        subprocess.run([program, way, str(count)], check=True, env={"LLVM_PROFILE_FILE": raw, "PATH": "/usr/bin:/bin"})
        subprocess.run([tool("llvm-profdata"), "merge", "-sparse", raw, "-o", data], check=True)
        exported = subprocess.run(
            [tool("llvm-cov"), "export", "-instr-profile", data, str(program)], check=True, capture_output=True
        ).stdout
    found = {}
    for function in json.loads(exported)["data"][0]["functions"]:
        path = pathlib.Path(function["filenames"][0])
        if ROOT / "Sources" in path.parents and path.relative_to(ROOT / "Sources").parts[0] not in SERVERS:
            key = path, function["name"]
            found[key] = found.get(key, 0) + function["count"]
    return found


def walk(program, way):
    few, many = calls(program, way, 5), calls(program, way, 25)
    files = {path for (path, name), count in many.items() if count - few.get((path, name), 0) >= 20}
    texts = [path.read_text() for path in files]
    folders = {path.parent for path in files}
    types = sum(len(TYPE.findall(text)) for text in texts)
    print(f"| {way} | {len(files)} | {sum(text.count(chr(10)) for text in texts):,} | {types} | {len(folders)} |", flush=True)
    if "-v" in sys.argv:
        for path in sorted(files):
            print("   ", path.relative_to(ROOT / "Sources"))


program = build()
print("| way | files | lines | types declared there | folders |\n| --- | --- | --- | --- | --- |", flush=True)
for way in [argument for argument in sys.argv[1:] if argument != "-v"] or WAYS:
    walk(program, way)
