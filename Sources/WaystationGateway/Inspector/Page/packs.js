import { ask, byID, bytes, confirm, counted, make, moment, Panel, showError } from "./elements.js";

const list = byID("packs-list");
const panel = new Panel("pack");

function versionItem(module, version) {
  const state = [
    version.isActive ? "active" : "", version.isPrevious ? "a roll-back activates it" : "", version.health,
    version.isDamaged ? "damaged" : "", `installed ${moment(version.installed)}`,
  ].filter(text => text !== "").join(", ");
  const button = make("button", {
    type: "button", class: "row", "aria-expanded": "false", click: () => open(module, version, button),
  }, make("span", { class: "url" }, `${module.module} ${version.version}`), make("span", { class: "facts" }, make("span", {}, state)));
  return make("li", {}, button);
}

async function open(module, version, button) {
  try {
    const found = await ask("/api/pack", { module: module.module, version: version.version });
    const rest = found.count - found.files.length;
    panel.open(button, `${module.module} ${version.version}`,
      make("p", {}, `${counted(found.count, "file")} at ${found.baseURLs.join(", ")}`),
      make("ul", {}, ...found.files.map(file => make("li", {}, `${file.path}, ${bytes(file.bytes)}${file.type ? `, ${file.type}` : ""}`))),
      rest > 0 ? make("p", {}, `Not listed: ${counted(rest, "more file")}.`) : "");
  } catch (error) {
    panel.open(button, "This version cannot be shown", make("p", { class: "bad" }, error.message));
  }
}

async function rollBack(module, problem) {
  const active = module.versions.find(version => version.isActive), previous = module.versions.find(version => version.isPrevious);
  const next = previous ? `Version ${previous.version} becomes active.` : "No version becomes active: its URLs go to the network.";
  if (!await confirm(`Roll back ${module.module} ${active.version}? ${next} The version counts as bad for a day.`, "Roll back")) return;
  try {
    await ask("/api/rollback", { module: module.module, version: active.version }, "POST");
    await show();
  } catch (error) { showError(problem, error); }
}

function moduleItem(module) {
  const state = [
    module.isServing ? "answers requests" : "does not answer requests", module.isEnabledByApp ? "" : "switched off by the app",
    module.isEnabledByServer ? "" : "switched off by the server",
    module.minimumVersion ? `versions below ${module.minimumVersion} are not used` : "",
  ].filter(text => text !== "").join(", ");
  const problem = make("div", {});
  const button = module.canRollBack
    ? make("button", { type: "button", click: () => rollBack(module, problem) }, `Roll back ${module.module}`) : "";
  return make("section", { class: "module", "aria-label": module.module },
    make("h3", {}, module.module), make("p", {}, state), button, problem,
    make("ol", { class: "list", "aria-label": `Versions of ${module.module}` }, ...module.versions.map(version => versionItem(module, version))));
}

export function start() {}

export async function show() {
  panel.close();
  list.replaceChildren();
  try {
    const modules = await ask("/api/packs");
    list.replaceChildren(...(modules.length > 0 ? modules.map(moduleItem) : [make("p", { class: "empty" }, "No packs are installed.")]));
  } catch (error) { showError(list, error); }
}
