#!/usr/bin/env python3
"""Runs a step of `make test`, and notes how long it took.

    Scripts/step.py NAME COMMAND...     runs the command, and exits with its status
    Scripts/step.py --table             prints the steps since `--begin`, with the seconds and the processor's seconds of each
    Scripts/step.py --begin             forgets the steps before

If a command fails, the table is printed as well.
"""

import os
import pathlib
import resource
import subprocess
import sys
import time

FILE = pathlib.Path(__file__).resolve().parent.parent / ".build" / "steps"


def table():
    rows = [line.split("\t") for line in FILE.read_text().splitlines()]
    rows.append(["in all", *(str(sum(float(row[column]) for row in rows)) for column in (1, 2))])
    print(f"{'step':<28}{'seconds':>10}{'processor':>12}")
    for name, seconds, processor in rows:
        print(f"{name:<28}{float(seconds):>10.0f}{float(processor):>12.0f}", flush=True)


def run(name, command):
    print(f"== {name}", flush=True)
    begin = time.monotonic()
    status = subprocess.run(command).returncode
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    FILE.parent.mkdir(exist_ok=True)
    with open(FILE, "a") as file:
        file.write(f"{name}\t{time.monotonic() - begin:.1f}\t{usage.ru_utime + usage.ru_stime:.1f}\n")
    if status:
        print(f"== {name} failed", flush=True)
        table()
    return status if status >= 0 else 1


match sys.argv[1:]:
    case ["--begin"]:
        FILE.unlink(missing_ok=True)
    case ["--table"]:
        table()
    case [name, *command] if command:
        sys.exit(run(name, command))
    case _:
        sys.exit(__doc__)
