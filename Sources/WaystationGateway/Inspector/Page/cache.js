import { ask, byID, bytes, confirm, counted, make, moment, moveByArrows, Panel, showError, terms } from "./elements.js";
import { fields } from "./loads.js";

const list = byID("cache-list"), count = byID("cache-count");
const panel = new Panel("entry");

function item(entry) {
  const facts = [
    entry.status, bytes(entry.bytes), `arrived ${moment(entry.arrived)}`,
    entry.part ?? "", entry.partition ? `login ${entry.partition}` : "", ...entry.variant,
    ...entry.tags.map(tag => `tag ${tag}`), ...entry.groups.map(group => `group ${group}`),
  ].filter(fact => fact !== "").map(fact => make("span", {}, fact));
  const button = make("button", { type: "button", class: "row", "aria-expanded": "false", click: () => open(entry, button) },
    make("span", { class: "url" }, `${entry.method} ${entry.url}`), make("span", { class: "facts" }, ...facts));
  return make("li", {}, button);
}

async function open(entry, button) {
  try {
    const found = await ask("/api/entry", { id: entry.id });
    const problem = make("div", {});
    panel.open(button, `${entry.method} ${entry.url}`,
      make("p", {}, found.freshness),
      terms([["Status", entry.status], ["Size", bytes(entry.bytes)], ["Arrived", moment(entry.arrived)],
        ...(entry.part ? [["Part", entry.part]] : []), ...(entry.answers ? [["Answers", entry.answers]] : []),
        ["Selected by", entry.variant.join("; ") || "nothing but the URL"]]),
      make("button", { type: "button", click: () => purge(entry, problem) }, "Purge"), problem,
      make("h3", {}, "Fields"), fields(found.fields));
  } catch (error) {
    panel.open(button, "This response cannot be shown", make("p", { class: "bad" }, error.message));
  }
}

async function purge(entry, problem) {
  if (!await confirm(`Remove the stored response for ${entry.url}? The next request asks the origin.`, "Remove")) return;
  try {
    await ask("/api/purge", { id: entry.id }, "POST");
    panel.close();
    await show();
    byID("cache-search").focus();
  } catch (error) { showError(problem, error); }
}

export function start() {
  moveByArrows(list);
  byID("cache-form").addEventListener("submit", event => { event.preventDefault(); show(); });
}

export async function show() {
  panel.close();
  list.replaceChildren();
  try {
    const found = await ask("/api/cache", { search: byID("cache-search").value.trim() });
    list.replaceChildren(...found.entries.map(item));
    const shown = found.entries.length < found.found ? `; the first ${found.entries.length} are listed` : "";
    count.textContent = `${found.found} of ${counted(found.total, "response")}, ${bytes(found.bytes)} in all${shown}`;
  } catch (error) {
    showError(count, error);
  }
}
