#!/usr/bin/env python3
"""Runs a test command and passes its output on.

    Scripts/run-tests.py swift test

If the command fails, its failures are printed once more at the end, since they are hard to find among thousands of lines
of tests that run side by side. If it prints nothing for 20 minutes, it hangs: the script prints the tests that have begun
and not ended, and the stacks of all threads of the test process, and ends the command.
"""

import os
import re
import select
import shutil
import signal
import subprocess
import sys

SILENCE = float(os.environ.get("WAYSTATION_TEST_SILENCE", 20 * 60))  # seconds
# Swift Testing begins a message with a symbol: a cross for failures, a line for known issues. Details follow, each with
# an arrow. Compilers begin a line with "error:", or with a place and "error:".
MESSAGE = re.compile(r"^[◇✔✘➜━↺]")
ERROR = re.compile(r"^(\S+: )?error:|[Ff]atal error|unexpected signal")
BEGINNING = re.compile(r'^◇ (?:Test|Suite) (.*) started\.$')
END = re.compile(r'^[✔✘➜━] (?:Test|Suite) (.*?) (?:passed after|failed after|skipped)')


class Output:
    """The lines that the command has printed, as far as they matter at its end."""

    def __init__(self):
        self.failures = []
        self.is_failure = False
        self.running = {}  # names in the order in which they began
        self.rest = b""

    def add(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.add_line(line.decode(errors="replace"))

    def add_line(self, line):
        if MESSAGE.match(line):
            self.is_failure = line.startswith("✘")
        elif not line.startswith("↳"):
            self.is_failure = bool(ERROR.search(line))
        if self.is_failure:
            self.failures.append(line[:600])
        if match := BEGINNING.match(line):
            self.running[match[1]] = None
        elif match := END.match(line):
            self.running.pop(match[1], None)


def test_processes(session):
    """The test processes among those that the command has started, itself and through others."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                if b"xctest" in file.read().split(bytes(1))[0] and os.getsid(int(process)) == session:
                    found.append(process)
        except OSError:
            pass  # The process has ended.
    return found


def print_stacks(process):
    print(f"== Stacks of process {process}:", flush=True)
    if shutil.which("gdb"):
        command = ["gdb", "-p", process, "-batch", "-ex", "thread apply all backtrace 40"]
    else:
        command = ["lldb", "--batch", "-p", process, "-o", "thread backtrace all"]
    try:
        subprocess.run(command, timeout=300, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"no stacks: {error}", flush=True)


def main():
    # In a group of its own, so that a hanging command ends with all of its processes.
    command = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.killpg(command.pid, signal.SIGKILL))
    output = Output()
    while True:
        if not select.select([command.stdout], [], [], SILENCE)[0]:
            print(f"\n== Nothing printed for {SILENCE:.0f} s. Tests that have begun and not ended:", flush=True)
            print("\n".join(output.running) or "(none)", flush=True)
            for process in test_processes(command.pid):
                print_stacks(process)
            os.killpg(command.pid, signal.SIGKILL)
            break
        data = os.read(command.stdout.fileno(), 1 << 16)
        if not data:
            break
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        output.add(data)
    status = command.wait()
    if status:
        print(f"== Failures of: {' '.join(sys.argv[1:])}")
        print("\n".join(output.failures[-60:]))
        sys.exit(status if status > 0 else 128 - status)


main()
