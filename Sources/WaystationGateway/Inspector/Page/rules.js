import { ask, byID, make, showError } from "./elements.js";

const list = byID("rules-list"), result = byID("decision");
let rules = [];

function item(rule) {
  const facts = [
    rule.methods ? rule.methods.join(", ") || "no method" : "all methods", ...rule.conditions,
    rule.needsLogin ? "may need a login" : "", rule.location ?? "",
  ].filter(fact => fact !== "").map(fact => make("span", {}, fact));
  return make("li", { class: "rule" }, make("div", { class: "row" },
    make("span", { class: "url" }, `Rule ${rule.index}: ${rule.pattern}`),
    make("span", { class: "facts" },
      make("span", { class: rule.action === "block" ? "bad" : "good" }, rule.action), ...facts,
      ...rule.warnings.map(warning => make("span", { class: "bad" }, `Warning: ${warning}`)))));
}

function words(decision) {
  const rule = rules[decision.rule];
  switch (decision.decision) {
    case "allowed": return `Rule ${decision.rule} takes it: ${rule?.pattern ?? ""} via ${rule?.action ?? ""}.`;
    case "blocked": return `Rule ${decision.rule} blocks it: ${rule?.pattern ?? ""}.`;
    case "openedElsewhere": return "The link is passed to the app's handler of external links.";
    default: return "No rule takes it.";
  }
}

export function start() {
  byID("decision-form").addEventListener("submit", async event => {
    event.preventDefault();
    try {
      await show();
      const decision = await ask("/api/decision", { url: byID("decision-url").value.trim(), method: byID("decision-method").value });
      result.replaceChildren(make("p", {}, words(decision)),
        decision.reasons.length > 0 ? make("ul", {}, ...decision.reasons.map(reason => make("li", {}, reason))) : "",
        decision.next ? make("p", {}, `Now: ${decision.next}`) : "",
        decision.arithmetic.length > 0 ? make("ul", {}, ...decision.arithmetic.map(line => make("li", {}, line))) : "",
        decision.gatewayURL ? make("p", {}, `The gateway shows it at ${decision.gatewayURL}`) : "");
    } catch (error) { showError(result, error); }
  });
}

export async function show() {
  try {
    rules = await ask("/api/rules");
    list.replaceChildren(...rules.map(item));
  } catch (error) { showError(result, error); }
}
