#!/usr/bin/env python3
"""Does what the README says, as a newcomer: clone, paste the first program, build it, and run it twice.

    try-readme.py [--git-url] [--picture FILE.svg]
    try-readme.py --test

The second run has no network: its server is stopped, and where the system allows it, the process is alone in a network
namespace. Every command is printed with its time and its output. With --git-url the program depends on the clone by a
git URL and a version, in place of its path. With --picture the two runs are written as an animated picture of a terminal.
Fails if the program cannot be built, or if the second run does not get the same page from the cache.

With --test the script does what the section "A first test" says: makes the package by the commands there, pastes the test,
and runs `swift test`.
"""
import argparse
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build/try-readme"
SWIFT = os.environ.get("SWIFT", "swift")


def run(words, folder, shown=None, environment=None):
    """Runs a command, prints it with its time and output, and returns the output."""
    print(f"$ {shown or ' '.join(map(str, words))}", flush=True)
    start = time.monotonic()
    ended = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if ended.returncode != 0:
        sys.exit(f"{ended.stdout}{ended.stderr}\nexit code {ended.returncode} after {seconds:.1f} s")
    lines = ended.stdout.splitlines()
    # A build and the making of a package print a line for each file.
    for line in lines if len(lines) < 4 else lines[-1:]:
        print(line)
    print(f"# {seconds:.1f} s", flush=True)
    return ended.stdout


def block(text, name, language="swift"):
    found = re.search(rf"```{language} {name}\n(.*?)```", text, re.S)
    if not found:
        sys.exit(f"README.md has no block that begins with ```{language} {name}")
    return found.group(1)


def version():
    found = re.search(r'"(\d+\.\d+\.\d+)"', (ROOT / "Sources/WaystationRecording/RecordingError.swift").read_text())
    return found.group(1)


def clone():
    """The text of the README in a new clone."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    run(["git", "clone", "--quiet", str(ROOT), "waystation"], WORK, "git clone --quiet https://… waystation")
    return (WORK / "waystation/README.md").read_text()


def user_environment():
    """The environment of a user: the variable is only for the project's own builds."""
    return {name: value for name, value in os.environ.items() if name != "WAYSTATION_WARNINGS_AS_ERRORS"}


def make_program(uses_git):
    readme = clone()
    manifest = block(readme, "package")
    if uses_git:
        run(["git", "-C", "waystation", "tag", version()], WORK)
        url = f'.package(url: "file://{WORK / "waystation"}", from: "{version()}")'
        manifest = manifest.replace('.package(path: "../waystation")', url)
    app = WORK / "app"
    app.mkdir()
    run([SWIFT, "package", "init", "--type", "executable"], app, "swift package init --type executable")
    shutil.rmtree(app / "Tests", ignore_errors=True)
    (app / "Package.swift").write_text(manifest)
    (app / "Sources/app/app.swift").write_text(block(readme, "program"))
    print(f"# Package.swift and Sources/app/app.swift are replaced by those of the README; {os.cpu_count()} cores")
    run([SWIFT, "build"], app, "swift build", user_environment())
    return app


def first_test():
    readme = clone()
    shop = WORK / "shop"
    folder = WORK
    for command in block(readme, "test", "sh").splitlines():
        run(["sh", "-ec", command], folder, command, user_environment())
        folder = shop  # The first command makes the folder and goes there.
    test = next(shop.glob("Tests/*/*.swift"))
    test.write_text(block(readme, "test"))
    print(f"# {test.relative_to(shop)} is replaced by that of the README; {os.cpu_count()} cores")
    run([SWIFT, "test"], shop, "swift test", user_environment())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(port):
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"],
        cwd=WORK / "waystation", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    while server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).close()
            return server
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    sys.exit("the server of Python did not start")


def two_runs(app):
    port = free_port()
    page = f"http://127.0.0.1:{port}/README.md"
    program = app / ".build/debug/app"
    server = serve(port)
    steps = [(f"python3 -m http.server {port} &", ""), (f".build/debug/app {page}", run([program, page], app))]
    server.terminate()
    server.wait()
    alone = ["unshare", "--map-root-user", "--net"]
    isolated = subprocess.run(alone + ["true"], capture_output=True).returncode == 0
    words = (alone if isolated else []) + [program, page]
    print("# the server is stopped" + (", and the next process has no network" if isolated else ""))
    steps += [("kill %1   # no server any more", ""), (f".build/debug/app {page}", run(words, app))]
    first, second = steps[1][1], steps[3][1]
    if first.split()[:2] != second.split()[:2] or "; hit" not in second:
        sys.exit("the second run did not get the same page from the cache")
    return steps


def picture(steps):
    """The steps as a terminal that is typed anew every few seconds, in the colours of the page."""
    lines, at, now = [], 54, 0.6
    for command, output in steps:
        lines.append((at, now, "command", "$ " + command))
        at, now = at + 24, now + 0.9 + 0.02 * len(command)
        for text in output.splitlines():
            lines.append((at, now, "output hit" if "; hit" in text else "output", text))
            at, now = at + 24, now + 0.15
        at, now = at + 6, now + 0.9
    total, height = now + 5, at + 2
    frames, texts = [], []
    for index, (y, start, kind, text) in enumerate(lines):
        share = 100 * start / total
        frames.append(f"@keyframes k{index}{{0%,{share:.2f}%{{opacity:0}}{share + 0.4:.2f}%,100%{{opacity:1}}}}")
        frames.append(f"#l{index}{{animation:k{index} {total:.1f}s infinite}}")
        texts.append(f'<text id="l{index}" class="{kind}" x="20" y="{y}">{escape(text)}</text>')
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" viewBox="0 0 760 {height}">
<!-- Written by Scripts/try-readme.py from a real run. -->
<style>
text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}}
.frame{{fill:#f6f8fa;stroke:#d0d7de}}.command{{fill:#1f2328;font-weight:600}}.output{{fill:#57606a}}.hit{{fill:#1a7f37}}
@media (prefers-color-scheme:dark){{.frame{{fill:#161b22;stroke:#30363d}}.command{{fill:#e6edf3}}
.output{{fill:#9198a1}}.hit{{fill:#3fb950}}}}
{chr(10).join(frames)}
@media (prefers-reduced-motion:reduce){{text{{animation:none!important}}}}
</style>
<rect class="frame" x="0.5" y="0.5" width="759" height="{height - 1}" rx="8"/>
<circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/>
<circle cx="56" cy="18" r="5" fill="#28c840"/>
{chr(10).join(texts)}
</svg>
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--git-url", action="store_true")
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--test", action="store_true")
    options = parser.parse_args()
    target = options.picture.resolve() if options.picture else None
    start = time.monotonic()
    if options.test:
        first_test()
        return print(f"# from the clone to the first green test: {time.monotonic() - start:.0f} s")
    steps = two_runs(make_program(options.git_url))
    print(f"# from the clone to the first load without a network: {time.monotonic() - start:.0f} s")
    if target:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(picture(steps))
        print(f"# {options.picture} shows the two runs")


main()
