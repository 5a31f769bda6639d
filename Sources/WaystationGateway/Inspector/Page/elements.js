// Everything that comes from loads is set as text, never as markup.

/** Makes an element: make("a", { href: "/" }, "text", otherElement). */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined && child !== "").map(child =>
    child instanceof Node ? child : document.createTextNode(String(child))));
  return element;
}

/** The element with an ID. */
export const byID = id => document.getElementById(id);

/** Terms and their descriptions. */
export const terms = pairs => make("dl", {}, ...pairs.flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]));

/** Asks the gateway; throws an error with its message. */
export async function ask(path, query = {}, method = "GET") {
  const response = await fetch(`${path}?${new URLSearchParams(query)}`, { method });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

/** Shows the message of an error in an element. */
export const showError = (element, error) => element.replaceChildren(make("p", { class: "bad", role: "alert" }, error.message));

export function bytes(count) {
  if (count < 1024) return `${count} bytes`;
  const units = ["KiB", "MiB", "GiB"];
  let value = count / 1024, unit = 0;
  while (value >= 1024 && unit < 2) { value /= 1024; unit += 1; }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** A number of things: counted(1, "load") is "1 load". */
export const counted = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

export const milliseconds = time => time < 10 ? `${time.toFixed(1)} ms` : time < 10000 ? `${Math.round(time)} ms` : `${(time / 1000).toFixed(1)} s`;

export const moment = time => new Date(time).toLocaleString();

/** Shows a panel beside a list until it is closed; the focus then goes back to the row. */
export class Panel {
  constructor(id) {
    this.element = byID(id);
    this.row = null;
    this.element.addEventListener("keydown", event => {
      if (event.key === "Escape") { event.stopPropagation(); this.close(); }
    });
  }

  open(row, title, ...content) {
    this.row?.setAttribute("aria-expanded", "false");
    this.row = row;
    row.setAttribute("aria-expanded", "true");
    const close = make("button", { type: "button", click: () => this.close() }, "Close");
    const heading = make("h3", { class: "cut" }, title);
    const whole = make("button", { type: "button", "aria-expanded": "false", click: () => {
      const isCut = heading.classList.toggle("cut");
      whole.setAttribute("aria-expanded", String(!isCut));
      whole.textContent = isCut ? "Show the whole URL" : "Show two lines of the URL";
    } }, "Show the whole URL");
    this.element.replaceChildren(make("div", { class: "head" }, heading, close), whole, ...content);
    this.element.hidden = false;
    whole.hidden = heading.scrollHeight <= heading.clientHeight;
    this.element.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.element.replaceChildren();
    this.row?.setAttribute("aria-expanded", "false");
    if (this.row?.isConnected) this.row.focus();
    this.row = null;
  }
}

/** Lets the arrow keys move between the rows of a list. */
export function moveByArrows(list) {
  list.addEventListener("keydown", event => {
    if (!["ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
    const rows = [...list.querySelectorAll(".row")].filter(row => row.checkVisibility());
    const at = rows.indexOf(document.activeElement);
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    event.preventDefault();
    rows[Math.min(Math.max(to, 0), rows.length - 1)].focus();
  });
}

/** Asks the user; the promise is true if the answer is yes. */
export function confirm(text, yes) {
  const dialog = byID("question");
  byID("question-text").textContent = text;
  byID("question-yes").textContent = yes;
  return new Promise(done => {
    let answer = false;
    byID("question-yes").onclick = () => { answer = true; dialog.close(); };
    byID("question-no").onclick = () => dialog.close();
    // The event of the question before may arrive when this one is open already.
    const closed = () => {
      if (dialog.open) return;
      dialog.removeEventListener("close", closed);
      done(answer);
    };
    dialog.addEventListener("close", closed);
    dialog.showModal();
    byID("question-no").focus();
  });
}
