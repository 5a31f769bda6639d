import { ask, byID, counted, make, moment, showError } from "./elements.js";

const list = byID("events-list"), count = byID("events-count");

const item = event => make("li", {}, make("div", { class: "row" },
  make("span", { class: event.isTrouble ? "url bad" : "url" }, event.isTrouble ? `Problem: ${event.text}` : event.text),
  make("span", { class: "facts" }, make("span", {}, moment(event.time)))));

export function start() {
  byID("events-refresh").addEventListener("click", show);
}

export async function show() {
  try {
    const events = await ask("/api/events");
    list.replaceChildren(...events.map(item));
    if (events.length === 0) {
      list.replaceChildren(make("li", { class: "empty" }, "The cache, the packs, the login and the cookies have reported nothing yet."));
    }
    count.textContent = counted(events.length, "event");
  } catch (error) { showError(count, error); }
}
