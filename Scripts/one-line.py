#!/usr/bin/env python3
"""Runs a build, and shows its progress in one line.

    Scripts/one-line.py TEXT COMMAND...

The line begins with TEXT, which the step of the build and the time follow. If the command fails, all that it has printed
is shown.
"""

import re
import subprocess
import sys
import time

STEP = re.compile(rb"^\[(\d+/\d+)\]")

text, *command = sys.argv[1:]
begin = time.monotonic()
lines = []


def show(step, end=""):
    line = f"{text}: {step}, {time.monotonic() - begin:.0f} s"
    # The spaces replace the rest of a longer line.
    print(f"\r{line:<60}" if sys.stdout.isatty() else line, end=end, flush=True)


with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
    if sys.stdout.isatty():
        show("begun")
    for line in process.stdout:
        lines.append(line)
        if sys.stdout.isatty() and (match := STEP.match(line)):
            show(f"step {match[1].decode()}")
if process.returncode:
    show("failed", end="\n")
    sys.stdout.buffer.write(b"".join(lines))
    sys.exit(process.returncode if process.returncode > 0 else 1)
show("done", end="\n")
