#!/usr/bin/env python3
"""Looks at the built documentation in Chromium, at three widths: check-docs-site.py [ARCHIVE] [--pictures FOLDER]

Serves the site as `make docs-serve` does, and opens its root, the landing page, every article and every tutorial. It
fails if a page is not found, if a picture does not load, if a page is wider than its window, or if code is cut without a
way to scroll to it.
"""
import argparse
import functools
import html
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTHS = (360, 820, 1440)
BROWSER = "chromium-headless-shell"

# Opens each page in a frame of each width, waits until the page has its content, and measures it.
HARNESS = """<!doctype html><meta charset="utf-8"><title>check</title><body><pre id="result">running</pre><script>
const pages = %s, widths = %s, found = [];
const pause = ms => new Promise(done => setTimeout(done, ms));
async function look(path, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:2000px;border:0`;
  frame.src = path;
  document.body.append(frame);
  const problems = [];
  let ready = false, view, page;
  for (let tries = 0; tries < 200 && !ready; tries++) {
    await pause(50);
    view = frame.contentWindow; page = view.document;
    ready = /^\\/(documentation|tutorials)\\//.test(view.location.pathname)
      && page.querySelector("main h1, .topic h1, .doc-topic h1, .not-found, .title");
  }
  if (!ready) problems.push("shows no content");
  else {
    await pause(150);
    const text = page.body.innerText;
    if (page.querySelector(".not-found") || /can.t be found|page you.re looking for/i.test(text)) problems.push("is not found");
    if (page.documentElement.scrollWidth > width + 1) problems.push(`is ${page.documentElement.scrollWidth} px wide`);
    for (const image of page.images)
      if (image.complete && image.naturalWidth === 0 && image.offsetParent !== null) problems.push(`picture ${image.src} does not load`);
    for (const code of page.querySelectorAll("pre")) {
      let box = code, scrolls = false;
      for (let up = code; up && up !== page.body; up = up.parentElement)
        if (["auto", "scroll"].includes(view.getComputedStyle(up).overflowX)) scrolls = true;
      if (!scrolls && box.scrollWidth > box.clientWidth + 1) problems.push("cuts code: " + code.innerText.slice(0, 60));
    }
  }
  found.push({ path, width, problems, title: page ? page.title : "" });
  frame.remove();
}
(async () => {
  for (const path of pages) for (const width of widths) await look(path, width);
  document.getElementById("result").textContent = JSON.stringify(found);
  document.title = "done";
})();
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    harness = b""
    missing = []

    def do_GET(self):
        if self.path != "/__check":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.harness)))
        self.end_headers()
        self.wfile.write(self.harness)

    def send_error(self, code, message=None, explain=None):
        Handler.missing.append(f"{self.path}: {code}")
        super().send_error(code, message, explain)

    def log_message(self, *_):
        pass


def browse(url, *options):
    with tempfile.TemporaryDirectory() as profile:
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", *options, url]
        return subprocess.run(command, capture_output=True, text=True, timeout=3600).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archive", nargs="?", type=pathlib.Path, default=ROOT / ".build/docs/Waystation.doccarchive")
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for a picture of each page at each width")
    options = parser.parse_args()
    pages = ["/"]
    for folder, files in ("documentation", "*.md"), ("tutorials", "Tutorials/*.tutorial"):
        names = [file.stem.lower() for file in sorted((ROOT / "Sources/Waystation/Waystation.docc").glob(files))]
        pages += [f"/{folder}/waystation/"] + [f"/{folder}/waystation/{name}/" for name in names if name != "waystation"]
    Handler.harness = (HARNESS % (json.dumps(pages), json.dumps(WIDTHS))).encode()
    handler = functools.partial(Handler, directory=str(options.archive.resolve()))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"

    output = browse(f"{site}/__check", "--window-size=1500,2200", "--virtual-time-budget=900000", "--dump-dom")
    result = re.search(r'<pre id="result">(.*?)</pre>', output, re.S)
    if not result or result.group(1) == "running":
        sys.exit("Chromium did not finish the check")
    found = json.loads(html.unescape(result.group(1)))
    problems = [f"{row['path']} at {row['width']} px {text}" for row in found for text in row["problems"]]
    # Chromium asks for pictures of the site's own accord.
    problems += sorted({f"{line}, which a page asked for" for line in Handler.missing if "favicon" not in line})
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
        for page in pages[1:]:
            for width in WIDTHS:
                target = options.pictures / f"{page.strip('/').split('/')[-1]}-{width}.png"
                browse(site + page, f"--window-size={width},1400", "--virtual-time-budget=10000", f"--screenshot={target}")
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
