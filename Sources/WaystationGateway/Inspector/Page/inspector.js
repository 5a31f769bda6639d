import * as cache from "./cache.js";
import * as cookies from "./cookies.js";
import * as events from "./events.js";
import * as loads from "./loads.js";
import * as packs from "./packs.js";
import * as rules from "./rules.js";

const parts = { loads, rules, cache, packs, cookies, events };

/** Shows the part that the fragment of the URL names. */
function showPart() {
  const name = Object.hasOwn(parts, location.hash.slice(1)) ? location.hash.slice(1) : "loads";
  for (const other of Object.keys(parts)) document.getElementById(other).hidden = other !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  parts[name].show();
}

for (const part of Object.values(parts)) part.start();
window.addEventListener("hashchange", showPart);
showPart();
