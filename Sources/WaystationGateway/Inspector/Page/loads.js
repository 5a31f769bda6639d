import { ask, byID, bytes, counted, make, milliseconds, moment, moveByArrows, Panel, showError, terms } from "./elements.js";

const limit = 1000;
const list = byID("loads-list"), filter = byID("loads-filter"), pause = byID("loads-pause"), count = byID("loads-count");
const panel = new Panel("load");
/** The rows by the numbers of their loads, the oldest first. */
const rows = new Map();
let waiting = [], missed = 0, isPaused = false, isDrawing = false;

const matches = row => row.dataset.text.includes(filter.value.toLowerCase());

function showCount() {
  const shown = [...rows.values()].filter(item => !item.hidden).length;
  const parts = [shown === rows.size ? counted(rows.size, "load") : `${shown} of ${counted(rows.size, "load")}`];
  if (waiting.length > 0) parts.push(`${waiting.length} waiting`);
  if (missed > 0) parts.push(`${counted(missed, "older load")} not listed`);
  count.textContent = parts.join(", ");
}

function row(load) {
  const outcome = load.error ? make("span", { class: "bad" }, "failed")
    : load.refusal ? make("span", { class: "bad" }, `refused: ${load.status}`)
    : load.isCancelled ? make("span", {}, "cancelled")
    : make("span", { class: load.status >= 400 ? "bad" : "good" }, load.status ?? "no response");
  const facts = [
    outcome, load.source ?? "", load.rule === undefined || load.rule === null ? "no rule" : `rule ${load.rule}`,
    bytes(load.bytes), milliseconds(load.milliseconds), load.error ?? load.refusal ?? load.cache,
  ].filter(fact => fact !== "").map(fact => fact instanceof Node ? fact : make("span", {}, fact));
  const button = make("button", { type: "button", class: "row", "aria-expanded": "false", click: () => open(load.number, button) },
    make("span", { class: "url" }, `${load.method} ${load.url}`), make("span", { class: "facts" }, ...facts));
  const item = make("li", {}, button);
  item.dataset.text = `${load.method} ${load.url} ${load.status ?? ""} ${load.source ?? ""} ${load.cache} ${load.error ?? ""} ${load.refusal ?? ""} ${load.isCancelled ? "cancelled" : ""}`.toLowerCase();
  item.hidden = !matches(item);
  return item;
}

function draw() {
  isDrawing = false;
  if (isPaused) return showCount();
  for (const load of waiting) {
    if (rows.has(load.number)) continue;
    const item = row(load);
    rows.set(load.number, item);
    list.prepend(item);
  }
  waiting = [];
  while (rows.size > limit) {
    const [number, item] = rows.entries().next().value;
    rows.delete(number);
    item.remove();
  }
  showCount();
}

function drawSoon() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(draw);
}

async function open(number, button) {
  try {
    const found = await ask("/api/load", { id: number });
    const load = found.load;
    panel.open(button, `${load.method} ${load.url}`,
      make("h3", {}, "Why this answer"), make("ul", {}, ...found.reasons.map(reason => make("li", {}, reason))),
      make("h3", {}, "Result"), terms([
        ["Status", [load.status ?? "none", load.error ?? load.refusal ?? (load.isCancelled ? "cancelled" : null)].filter(part => part !== null).join("; ")],
        ["Source", load.source ?? "none"], ["Rule", found.ruleText ?? "none"], ["Body", bytes(load.bytes)],
        ["Began", moment(load.begun)], ["Response after", load.status ? milliseconds(found.waitMilliseconds) : "no response"],
        ["End after", milliseconds(load.milliseconds)],
      ]),
      ...(found.next ? [make("h3", {}, "The next such request"), make("p", {}, found.next),
        ...(found.arithmetic.length > 0 ? [make("ul", {}, ...found.arithmetic.map(line => make("li", {}, line)))] : [])] : []),
      make("h3", {}, "Request fields"), fields(found.requestFields),
      make("h3", {}, "Response fields"), fields(found.responseFields),
      make("h3", {}, "Body"), ...preview(found.preview, number));
  } catch (error) {
    panel.open(button, "This load cannot be shown", make("p", { class: "bad" }, error.message));
  }
}

/** The beginning of a body: its text, or the picture. */
function preview(body, number) {
  switch (body.kind) {
    case "image": return [make("img", { src: `/api/image?id=${number}`, alt: "The picture that the response contains" })];
    case "json": case "text":
      return [make("pre", { tabindex: "0", role: "region", "aria-label": "Text of the body" }, body.kind === "json" ? indented(body.text) : body.text),
        body.isCut ? make("p", { class: "empty" }, "The rest of the body is not kept.") : ""];
    default: return [make("p", { class: "empty" }, body.text)];
  }
}

/** JSON with line breaks and indents. Its tokens stay as they are: a number beyond 2^53 would be rounded if it were parsed. */
function indented(text) {
  try { JSON.parse(text); } catch { return text; }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g);
  let depth = 0;
  const line = () => "\n" + "  ".repeat(depth);
  return tokens.map((token, index) => {
    switch (token) {
      case "{": case "[":
        if ("}]".includes(tokens[index + 1])) return token;
        depth += 1;
        return token + line();
      case "}": case "]":
        if ("{[".includes(tokens[index - 1])) return token;
        depth -= 1;
        return line() + token;
      case ",": return token + line();
      case ":": return ": ";
      default: return token;
    }
  }).join("");
}

export const fields = pairs => pairs.length === 0 ? make("p", { class: "empty" }, "none") : terms(pairs);

function forget() {
  rows.clear();
  waiting = [];
  missed = 0;
  list.replaceChildren();
  panel.close();
  showCount();
}

export function start() {
  moveByArrows(list);
  filter.addEventListener("input", () => {
    for (const item of rows.values()) item.hidden = !matches(item);
    showCount();
  });
  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = isPaused ? "Continue" : "Pause";
    drawSoon();
  });
  byID("loads-clear").addEventListener("click", () => ask("/api/clear", {}, "POST").catch(error => showError(count, error)));
  const connection = byID("connection");
  const source = new EventSource("/api/loads");
  source.addEventListener("open", () => { connection.textContent = "Connected"; });
  source.addEventListener("error", () => {
    connection.textContent = source.readyState === EventSource.CLOSED
      ? "The gateway has ended, or has a new secret" : "Connecting …";
  });
  source.addEventListener("load", event => {
    waiting.push(JSON.parse(event.data));
    // While the list is paused, only as many wait as the list can show.
    if (waiting.length > limit) { waiting.shift(); missed += 1; }
    drawSoon();
  });
  source.addEventListener("missed", event => { missed += Number(event.data); drawSoon(); });
  source.addEventListener("cleared", forget);
  showCount();
}

export function show() {}
