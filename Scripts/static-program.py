#!/usr/bin/env python3
"""Runs a program that contains Swift's libraries in a Debian folder without Swift.

    Scripts/static-program.py [--tool]

The script builds Tests/StaticProgram for release with --static-swift-stdlib, installs Debian with the packages that the
last stage of the Dockerfile installs, and starts the program there. With each of the two engines, the program shows a miss,
a hit, a page of a pack, and a server whose certificate is refused. With --tool, the script also builds the tool `waystation`
as the Dockerfile does, and starts its doctor there. debootstrap and chroot need root.
"""

import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build" / "static"
SWIFT = os.environ.get("SWIFT", "swift")


def last_stage():
    """The release of Debian and the packages of the last stage of the Dockerfile."""
    stage = (ROOT / "Dockerfile").read_text().split("\nFROM ")[-1]
    release = re.match(r"debian:(\w+)-slim", stage)[1]
    packages = re.search(r"--no-install-recommends ([^\\\n&]*)", stage)[1].split()
    return release, packages


def build_options():
    """The options with which the Dockerfile builds the tool."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return re.search(r"RUN swift build (.*?) +&&", text)[1].split()


def build(package, options, product):
    arguments = ["--package-path", str(package), "--scratch-path", str(ROOT / ".build" / "static-build"), *options]
    subprocess.run([SWIFT, "build", *arguments, "--quiet"], check=True)
    shown = subprocess.run([SWIFT, "build", *arguments, "--show-bin-path"], check=True, capture_output=True, text=True)
    return pathlib.Path(shown.stdout.strip()) / product


def describe(program):
    dynamic = subprocess.run(["readelf", "--dynamic", program], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    if swift := [name for name in needed if "swift" in name.lower() or "Foundation" in name]:
        sys.exit(f"static-program: {program.name} still needs {', '.join(swift)}")
    subprocess.run(["strip", "-o", WORK / "stripped", program], check=True)
    sizes = [path.stat().st_size / (1 << 20) for path in (program, WORK / "stripped")]
    print(f"{program.name}: {sizes[0]:.0f} MiB, stripped {sizes[1]:.0f} MiB; needs {' '.join(sorted(needed))}", flush=True)


def install(debian):
    release, packages = last_stage()
    sites = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE)", f"Release: {release}"], capture_output=True, text=True,
    ).stdout.split()
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", release, debian, *sites[:1]],
        check=True, stdout=subprocess.DEVNULL,
    )
    # As in a container: the engine on SwiftNIO asks the system for the address of localhost.
    (debian / "etc/hosts").write_text("127.0.0.1 localhost\n")
    print(f"Debian {release} with {' '.join(packages)}", flush=True)


def run(debian, *command):
    """Runs a command in the folder, with /proc, and prints and returns its output."""
    script = f'mount -t proc proc {debian}/proc && exec chroot {debian} "$@"'
    process = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command], capture_output=True, text=True, timeout=600,
    )
    print(process.stdout, end="", flush=True)
    if process.returncode:
        sys.exit(f"static-program: {' '.join(command)} ended with {process.returncode}:\n{process.stderr}")
    return process.stdout


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that refuses the certificate is expected."""


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"from the server"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(secured):
    server = Server(("127.0.0.1", 0), Page)
    if secured:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-keyout", WORK / "key.pem", "-out", WORK / "certificate.pem"],
            check=True, capture_output=True,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(WORK / "certificate.pem", WORK / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{'https://localhost' if secured else 'http://127.0.0.1'}:{server.server_port}"


def make_pack(path):
    page = b"from the pack"
    manifest = {
        "formatVersion": 1, "module": "shop", "version": "1.0", "baseURLs": ["https://shop.example/app/"],
        "released": "2026-03-01T12:00:00Z",
        "files": [{"path": "index.html", "sha256": hashlib.sha256(page).hexdigest(), "size": len(page)}],
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("waystation-pack.json", json.dumps(manifest))
        archive.writestr("index.html", page)


EXPECTED = [
    "{}: /page: from the server: Waystation; fwd=uri-miss; fwd-status=200; stored",
    "{}: /page: from the server: Waystation; hit; ttl=",
    "{}: /app: from the pack: ",
    "{}: /refused: refused: ",
]

if os.geteuid():
    sys.exit("static-program: debootstrap and chroot need root")
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
debian = WORK / "debian"
program = build(ROOT / "Tests" / "StaticProgram", ["-c", "release", "--static-swift-stdlib"], "static-program")
describe(program)
install(debian)
shutil.copy(program, debian / "usr/local/bin")
make_pack(debian / "srv/shop.zip")
output = run(debian, "static-program", "/srv", serve(False) + "/page", serve(True) + "/refused")
lines = output.splitlines()
expected = [line.format(engine) for engine in ("Foundation", "SwiftNIO") for line in EXPECTED]
if len(lines) != len(expected) or not all(map(str.startswith, lines, expected)):
    sys.exit("static-program: expected lines that begin with\n" + "\n".join(expected))
if "--tool" in sys.argv[1:]:
    tool = build(ROOT, build_options(), "waystation")
    describe(tool)
    shutil.copy(tool, debian / "usr/local/bin")
    run(debian, "waystation", "doctor")
print("the programs run without Swift")
