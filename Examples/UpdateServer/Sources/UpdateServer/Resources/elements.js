// All texts reach the page as text nodes, never as markup: names and versions come from packs that others made.

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

export function size(bytes) {
  let unit = "B";
  for (const next of ["kB", "MB", "GB"]) {
    if (bytes < 999.5) break;
    bytes /= 1000;
    unit = next;
  }
  return `${unit !== "B" && bytes < 9.95 ? bytes.toFixed(1) : Math.round(bytes)} ${unit}`;
}

/** A number of things: counted(1, "file") is "1 file". */
export const counted = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

export const moment = time => new Date(time).toLocaleString();

/** Shows a message in place of the one before. */
export function report(text) {
  byID("error").textContent = "";
  byID("status").textContent = text;
}

/** Shows the message of a failure in place of the one before. */
export function reportFailure(text) {
  byID("status").textContent = "";
  byID("error").textContent = text;
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
