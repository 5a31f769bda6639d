import { ask, byID, make, moment, showError } from "./elements.js";

const list = byID("cookies-list");

function item(cookie) {
  const facts = [
    cookie.isHostOnly ? "this host only" : "subdomains too", `path ${cookie.path}`, cookie.isSecure ? "Secure" : "",
    cookie.isHTTPOnly ? "HttpOnly" : "", `SameSite ${cookie.sameSite}`,
    cookie.expires === undefined || cookie.expires === null ? "ends with the session" : `expires ${moment(cookie.expires)}`,
  ].filter(fact => fact !== "").map(fact => make("span", {}, fact));
  return make("li", {}, make("div", { class: "row" }, make("span", { class: "url" }, cookie.name), make("span", { class: "facts" }, ...facts)));
}

export function start() {}

export async function show() {
  try {
    const domains = Map.groupBy(await ask("/api/cookies"), cookie => cookie.domain);
    list.replaceChildren(...[...domains].map(([domain, cookies]) =>
      make("section", { class: "domain", "aria-label": domain }, make("h3", {}, domain), make("ul", { class: "list" }, ...cookies.map(item)))));
    if (domains.size === 0) list.replaceChildren(make("p", { class: "empty" }, "The app's store has no cookies, or the interceptor has no store."));
  } catch (error) { showError(list, error); }
}
