#!/usr/bin/env python3
"""Builds packages that depend on this one, each from nothing, and prints the cost of their first builds.

    Scripts/build-cost.py [NAME]...     all of them, or those whose names are given
    Scripts/build-cost.py cache cache@COMMIT    the same package with an earlier commit, in the same run

The cost of a build is the processor time of the compiler and the linker, in seconds, which hardly depends on what else the
machine does, and the number of steps. Fetching the dependencies is not counted. Two libraries of others are built in the
same run, for comparison. A name without a commit builds the last one.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build" / "build-cost"
SWIFT = os.environ.get("SWIFT", "swift")
WAYSTATION = '.package(path: "../COMMIT/waystation", traits: [{}])'

# For each dependent: what it depends on, the identity of that package, and the products it uses.
DEPENDENTS = {
    "cache": (WAYSTATION.format(""), "waystation", ["Waystation"]),
    "packs": (WAYSTATION.format(""), "waystation", ["Waystation", "WaystationPacks"]),
    "engine": (WAYSTATION.format('"NIO"'), "waystation", ["Waystation", "WaystationNIO"]),
    "gateway": (WAYSTATION.format('"Gateway"'), "waystation", ["Waystation", "WaystationGateway"]),
    "testing": (WAYSTATION.format(""), "waystation", ["WaystationTesting"]),
    "swift-crypto": (
        '.package(url: "https://github.com/apple/swift-crypto", from: "4.5.2")', "swift-crypto", ["Crypto"],
    ),
    "async-http-client": (
        '.package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0")', "async-http-client",
        ["AsyncHTTPClient"],
    ),
}


def manifest(name, commit):
    dependency, package, products = DEPENDENTS[name]
    dependency = dependency.replace("COMMIT", commit)
    listed = ", ".join(f'.product(name: "{product}", package: "{package}")' for product in products)
    kind, folder = ("testTarget", "Tests") if name == "testing" else ("executableTarget", "Sources")
    return folder, f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "dependent",
    dependencies: [{dependency}],
    targets: [.{kind}(name: "Dependent", dependencies: [{listed}])]
)
"""


def clone(commit):
    """Clones this repository at a commit, unless that was done before."""
    checkout = WORK / commit / "waystation"
    if not checkout.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(checkout)], check=True)
        subprocess.run(["git", "-C", str(checkout), "checkout", "--quiet", commit], check=True)


def cost(name, commit):
    """Builds a dependent, and returns its processor time, its time and its steps."""
    clone(commit)
    directory = WORK / "dependent"
    shutil.rmtree(directory, ignore_errors=True)
    folder, text = manifest(name, commit)
    (directory / folder / "Dependent").mkdir(parents=True)
    (directory / "Package.swift").write_text(text)
    imports = "".join(f"import {product}\n" for product in DEPENDENTS[name][2])
    source = imports + ("import Testing\n\n@Test func builds() {}\n" if folder == "Tests" else '\nprint("built")\n')
    (directory / folder / "Dependent" / ("Tests.swift" if folder == "Tests" else "main.swift")).write_text(source)
    arguments = ["--package-path", str(directory)]
    subprocess.run([SWIFT, "package", *arguments, "resolve"], check=True, capture_output=True)
    begin = time.monotonic()
    build = subprocess.Popen(
        [SWIFT, "build", *arguments, *(["--build-tests"] if folder == "Tests" else [])],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    output = build.stdout.read()
    _, status, usage = os.wait4(build.pid, 0)
    if status:
        sys.exit(f"{output}\nbuild-cost: {name} does not build")
    steps = max((int(total) for total in re.findall(r"^\[\d+/(\d+)\]", output, re.M)), default=0)
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, steps


names = [name.partition("@")[::2] for name in sys.argv[1:] or DEPENDENTS]
if unknown := [name for name, _ in names if name not in DEPENDENTS]:
    sys.exit(f"build-cost: there is no {unknown[0]}; there are {', '.join(DEPENDENTS)}")
# The variable is for the project's own checks: a dependent does not set it.
os.environ.pop("WAYSTATION_WARNINGS_AS_ERRORS", None)
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
print(f"{'dependent':<20}{'processor s':>12}{'steps':>8}{'time s':>9}", flush=True)
for name, commit in names:
    processor, elapsed, steps = cost(name, commit or "HEAD")
    print(f"{name + (commit and '@' + commit):<20}{processor:>12.0f}{steps:>8}{elapsed:>9.0f}", flush=True)
