import { byID, confirm, counted, make, moment, report, reportFailure, size } from "./elements.js";
import { address, ask, authorization } from "./server.js";

/** Shows the published releases. */
export function show(index) {
  byID("catalogue").textContent = index.expires
    ? `Catalogue ${index.serial}, signed by ${index.keys.join(", ")}, valid until ${moment(index.expires)}`
    : "Nothing is published yet.";
  byID("modules").replaceChildren(
    ...(index.modules.length > 0 ? index.modules.map(moduleItem) : [make("p", { class: "empty" }, "There are no modules yet.")]));
  byID("known-modules").replaceChildren(...index.modules.map(module => make("option", { value: module.module })));
  allowChanges();
}

/** Lets changes be made as soon as the field of the token has a text. */
export function allowChanges() {
  const isAllowed = byID("token").value !== "";
  byID("locked").hidden = isAllowed;
  for (const button of document.querySelectorAll("main button.change")) {
    button.disabled = !isAllowed;
    button.title = isAllowed ? "" : "Enter the token first";
  }
}

function moduleItem(module) {
  const state = module.isActive
    ? make("span", { class: "good" }, module.live ? `${module.live} is live` : "nothing is live")
    : make("span", { class: "bad" }, "switched off");
  const network = module.network ? make("span", {}, `downloaded on ${module.network} networks`) : "";
  return make("section", { class: "module", "aria-label": module.module, "data-module": module.module, tabindex: "-1" },
    make("h3", {}, module.module), make("p", { class: "facts" }, state, network),
    make("div", { class: "bar" }, ...moduleChanges(module)),
    make("ol", { class: "list", "aria-label": `Releases of ${module.module}, the latest first` },
      ...module.releases.toReversed().map(release => releaseItem(module, release))));
}

/** The buttons that change a module as a whole. */
function moduleChanges(module) {
  const name = module.module, changes = [];
  if (module.rollout) {
    const version = module.rollout.version;
    changes.push(button(module, `End the rollout of ${version}`, "rollback", {}, `The rollout of ${name} ${version} has ended.`,
      [`End the rollout of ${name} ${version}?`, "End the rollout"]));
  }
  changes.push(module.isActive
    ? button(module, `Disable ${name}`, "disable", {}, `${name} is switched off.`, [`Switch ${name} off for all clients?`, "Disable"])
    : button(module, `Enable ${name}`, "enable", {}, `${name} is switched on.`));
  if (module.minimumVersion) {
    changes.push(button(module, `Remove the minimum ${module.minimumVersion}`, "minimum", {}, `Any version of ${name} may be used.`,
      [`Let clients use any version of ${name} again?`, "Remove the minimum"]));
  }
  changes.push(module.network
    ? button(module, "Allow any network", "network", {}, `${name} is downloaded on any network.`,
      [`Let clients download ${name} on any network?`, "Allow"])
    : button(module, "Require an unmetered network", "network", { network: "unmetered" }, `${name} is downloaded on unmetered networks.`,
      [`Keep clients from downloading ${name} on metered networks?`, "Require"]));
  return changes;
}

function releaseItem(module, release) {
  const facts = [
    `published ${moment(release.published)}`, `${size(release.archive.size)}, ${counted(release.fileCount, "file")}`,
    ...(release.patches.length > 0
      ? release.patches.map(patch => `${patch.kind} from ${patch.from}: ${size(patch.file.size)}`) : ["no patches"]),
  ].map(fact => make("span", {}, fact));
  return make("li", { class: "release" },
    make("span", { class: "version" }, make("strong", {}, release.version), state(module, release)),
    make("span", { class: "facts" }, ...facts),
    make("span", { class: "bar" }, ...releaseChanges(module, release)));
}

function state(module, release) {
  if (module.live === release.version) return make("span", { class: "good" }, "live");
  if (module.rollout && module.rollout.version === release.version) return make("span", {}, `${module.rollout.percentage} % of the clients`);
  if (module.minimumVersion === release.version) return make("span", {}, "lowest that may be used");
  return "";
}

/** The buttons of one release. */
function releaseChanges(module, release) {
  const name = module.module, version = release.version, changes = [];
  const order = module.live ? version.localeCompare(module.live, "en", { numeric: true }) : 1;
  if (order < 0) {
    changes.push(button(module, `Roll back to ${version}`, "rollback", { version }, `${name} ${version} is live.`,
      [`Roll ${name} back from ${module.live} to ${version}?`, "Roll back"]));
  }
  if (order <= 0 && version !== module.minimumVersion) {
    changes.push(button(module, `Require ${version}`, "minimum", { version }, `${version} is the lowest version of ${name} that may be used.`,
      [`Keep clients from using versions of ${name} below ${version}?`, "Require"]));
  }
  return changes;
}

/** A button for a change; a question with the text of its answer is asked first. */
function button(module, text, action, query, done, question) {
  return make("button", {
    type: "button", class: "change",
    click: async () => {
      if (question && !await confirm(...question)) return;
      await change(module.module, action, query, done);
    },
  }, text);
}

async function change(module, action, query, done) {
  report("Working …");
  try {
    show(await ask(address(module, action, query), { method: "POST", headers: { Authorization: authorization() } }));
    report(done);
    // The buttons are new, so the focus would be lost.
    [...document.querySelectorAll(".module")].find(item => item.dataset.module === module)?.focus();
  } catch (error) {
    reportFailure(error.message);
  }
}
