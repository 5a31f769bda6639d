#!/usr/bin/env python3
"""Compiles the code of each step of the tutorials: check-tutorials.py [PRODUCTS]

Builds what the steps import, or takes it from PRODUCTS, the folder of a debug build with all traits. A Swift file is
type-checked as a program or a test file, a manifest as SwiftPM does it, in Swift 6 and with warnings as errors. A file
whose name in the tutorial is Sources/NAME/… is also the module NAME for the later steps. Commands of a shell are parsed.
They are also run, in a folder of their tutorial's own, unless they start git, swift or a server. Fails with the file and
the message of the compiler or the command, and if a file of code is in no step.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TUTORIALS = ROOT / "Sources/Waystation/Waystation.docc/Tutorials"
SWIFT = os.environ.get("SWIFT", "swift")
BUILD = ("Scripts/swift.sh", "build", ".")
CODE = re.compile(r'@Code\(name: "([^"]+)", file: "([^"]+)"')
NOT_RUN = re.compile(r"\b(git|swift|python3)\b")
COMPILE = (SWIFT + "c", "-swift-version", "6", "-warnings-as-errors")


def built():
    """The folder of a build of all that the steps use."""
    for product in ("--target", "WaystationTesting"), ("--product", "waystation"):
        subprocess.run([*BUILD, *product], cwd=ROOT, check=True)
    return ROOT / ".build/make/debug"


def search_paths(products):
    """The options by which the compiler finds the built modules, and the C modules that they need."""
    scratch = products.parent.parent
    maps = [
        *(ROOT / "Sources").glob("*/include/module.modulemap"),
        *products.glob("*.build/module.modulemap"),
        *scratch.glob("checkouts/*/Sources/*/module.modulemap"),
        *scratch.glob("checkouts/*/Sources/*/include/module.modulemap"),
    ]
    return ["-I", products / "Modules"] + [part for path in maps for part in ("-Xcc", f"-fmodule-map-file={path}")]


def manifest_options(file):
    """The options with which SwiftPM compiles a manifest: its module, and the version of tools in the first line."""
    info = subprocess.check_output([SWIFT + "c", "-print-target-info"], text=True)
    resources = re.search(r'"runtimeResourcePath": "([^"]*)"', info).group(1)
    tools = re.match(r"// swift-tools-version: (\S+)\n", file.read_text()).group(1)
    return ["-I", f"{resources}/pm/ManifestAPI", "-package-description-version", f"{tools}.0"]


def main():
    products = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else built()).resolve()
    environment = {**os.environ, "PATH": f"{products}:{os.environ['PATH']}"}
    problems, checked = [], set()

    def run(file, words, folder):
        ended = subprocess.run([str(word) for word in words], cwd=folder, env=environment, capture_output=True, text=True)
        if ended.returncode != 0:
            problems.append(f"{file.relative_to(ROOT)}\n{ended.stdout}{ended.stderr}")
        return ended.returncode == 0

    for tutorial in sorted(TUTORIALS.glob("*.tutorial")):
        with tempfile.TemporaryDirectory() as scratch:
            modules, work = pathlib.Path(scratch, "modules"), pathlib.Path(scratch, "work")
            modules.mkdir()
            work.mkdir()
            # The modules of the steps come first: an example of the repository has a module of the same name.
            library = [*COMPILE, "-parse-as-library", "-I", modules, *search_paths(products)]
            for name, code in CODE.findall(tutorial.read_text()):
                file = TUTORIALS / "Code" / code
                # A file may be in several steps.
                if code in checked:
                    continue
                checked.add(code)
                if code.endswith(".sh"):
                    if run(file, ["sh", "-n", file], work) and not NOT_RUN.search(file.read_text()):
                        run(file, ["sh", "-eu", file], work)
                elif name == "Package.swift":
                    run(file, [*COMPILE, "-typecheck", *manifest_options(file), file], work)
                else:
                    compiles = run(file, [*library, "-typecheck", file], work)
                    if compiles and (module := re.match(r"Sources/(\w+)/", name)):
                        output = ["-o", modules / f"{module.group(1)}.swiftmodule"]
                        names = ["-module-name", module.group(1), "-enable-testing"]
                        run(file, [*library, "-emit-module", *names, *output, file], work)
    unused = {file.name for file in (TUTORIALS / "Code").iterdir()} - checked
    problems += [f"no step of a tutorial shows {name}" for name in sorted(unused)]
    for problem in problems:
        print(problem)
    print(f"{len(checked)} files of code in tutorials, {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
