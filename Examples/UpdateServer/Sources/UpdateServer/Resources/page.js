"use strict";

// All texts reach the page as text nodes, never as markup: names and versions come from packs that others made.

const byId = (id) => document.getElementById(id);

function element(name, properties, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function size(bytes) {
  let unit = "B";
  for (const next of ["kB", "MB", "GB"]) {
    if (bytes < 999.5) break;
    bytes /= 1000;
    unit = next;
  }
  return `${unit !== "B" && bytes < 9.95 ? bytes.toFixed(1) : Math.round(bytes)} ${unit}`;
}

function tell(text) {
  byId("error").textContent = "";
  byId("status").textContent = text;
}

function tellError(text) {
  byId("status").textContent = "";
  byId("error").textContent = text;
}

function message(status, text) {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return status === 0 ? "the server could not be reached" : `the server answered ${status}`;
  }
}

async function load() {
  const response = await fetch("api/modules", { cache: "no-store" });
  const text = await response.text();
  if (!response.ok) throw new Error(message(response.status, text));
  show(JSON.parse(text));
}

function show(index) {
  byId("catalogue").textContent = index.expires
    ? `Catalogue ${index.serial}, signed by ${index.keys.join(", ")}, valid until ${new Date(index.expires).toLocaleString()}`
    : "Nothing is published yet.";
  byId("modules").replaceChildren(
    ...(index.modules.length ? index.modules.map(article) : [element("p", {}, "There are no modules yet.")])
  );
  byId("known-modules").replaceChildren(...index.modules.map((module) => element("option", { value: module.module })));
  allowChanges();
}

function article(module) {
  const name = module.module;
  const state = module.isActive
    ? element("span", { className: "live" }, module.live ? `${module.live} is live` : "nothing is live")
    : element("span", { className: "off" }, "switched off");
  const actions = element("span", { className: "actions" });
  if (module.rollout) {
    actions.append(
      button(`End the rollout of ${module.rollout.version}`, `End the rollout of ${name} ${module.rollout.version}?`, () =>
        change(name, "rollback", {}, `The rollout of ${name} ${module.rollout.version} has ended.`)
      ),
      " "
    );
  }
  actions.append(
    module.isActive
      ? button(`Disable ${name}`, `Switch ${name} off for all clients?`, () => change(name, "disable", {}, `${name} is switched off.`))
      : button(`Enable ${name}`, null, () => change(name, "enable", {}, `${name} is switched on.`))
  );
  if (module.minimumVersion) {
    actions.append(
      " ",
      button(`Remove the minimum ${module.minimumVersion}`, `Let clients use any version of ${name} again?`, () =>
        change(name, "minimum", {}, `Any version of ${name} may be used.`)
      )
    );
  }
  actions.append(
    " ",
    module.network
      ? button(`Allow any network (now ${module.network})`, `Let clients download ${name} on any network?`, () =>
          change(name, "network", {}, `${name} is downloaded on any network.`)
        )
      : button("Require an unmetered network", `Keep clients from downloading ${name} on metered networks?`, () =>
          change(name, "network", { network: "unmetered" }, `${name} is downloaded on unmetered networks.`)
        )
  );
  const head = ["Version", "State", "Published", "Whole", "Patches", "Change"];
  return element(
    "article",
    {},
    element("header", {}, element("h3", {}, name), state, actions),
    element(
      "div",
      { className: "scroll" },
      element(
        "table",
        {},
        element("caption", {}, `Releases of ${name}`),
        element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...module.releases.toReversed().map((release) => row(module, release)))
      )
    )
  );
}

function row(module, release) {
  const patches = release.patches.map((patch) => element("li", {}, `${patch.kind} from ${patch.from}: ${size(patch.file.size)}`));
  const order = module.live ? release.version.localeCompare(module.live, "en", { numeric: true }) : 1;
  const actions = [];
  if (order < 0) {
    actions.push(
      button(`Roll back to ${release.version}`, `Roll ${module.module} back from ${module.live} to ${release.version}?`, () =>
        change(module.module, "rollback", { version: release.version }, `${module.module} ${release.version} is live.`)
      ),
      " "
    );
  }
  if (order <= 0 && release.version !== module.minimumVersion) {
    actions.push(
      button(
        `Require ${release.version}`,
        `Keep clients from using versions of ${module.module} below ${release.version}?`,
        () =>
          change(
            module.module,
            "minimum",
            { version: release.version },
            `${release.version} is the lowest version of ${module.module} that may be used.`
          )
      )
    );
  }
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, release.version),
    element("td", {}, state(module, release)),
    element("td", {}, new Date(release.published).toLocaleString()),
    element("td", { className: "number" }, `${size(release.archive.size)}, ${release.fileCount} files`),
    element("td", { className: "number" }, patches.length ? element("ul", {}, ...patches) : "none"),
    element("td", {}, ...actions)
  );
}

function state(module, release) {
  if (module.live === release.version) return element("span", { className: "live" }, "live");
  if (module.minimumVersion === release.version) return "lowest that may be used";
  if (module.rollout && module.rollout.version === release.version) return `${module.rollout.percentage} % of the clients`;
  return "";
}

function button(text, question, action) {
  const node = element("button", { type: "button", className: "change" }, text);
  node.addEventListener("click", async () => {
    if (question && !(await isConfirmed(question))) return;
    await action();
  });
  return node;
}

function isConfirmed(question) {
  const dialog = byId("confirmation");
  byId("confirmation-text").textContent = question;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true })
  );
}

function address(module, action, query) {
  const text = new URLSearchParams(query).toString();
  return `api/modules/${encodeURIComponent(module)}/${action}${text ? `?${text}` : ""}`;
}

async function change(module, action, query, done) {
  tell("Working …");
  try {
    const response = await fetch(address(module, action, query), {
      method: "POST",
      headers: { Authorization: `Bearer ${byId("token").value}` },
    });
    const text = await response.text();
    if (!response.ok) return tellError(message(response.status, text));
    show(JSON.parse(text));
    tell(done);
  } catch {
    tellError("the server could not be reached");
  }
}

// Only XMLHttpRequest reports the progress of an upload.
function publish(module, pack, rollout, network) {
  const upload = byId("upload");
  const request = new XMLHttpRequest();
  request.open("POST", address(module, "publish", network ? { rollout, network } : { rollout }));
  request.setRequestHeader("Authorization", `Bearer ${byId("token").value}`);
  request.setRequestHeader("Content-Type", "application/zip");
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) upload.value = event.loaded / event.total;
  });
  request.upload.addEventListener("load", () => {
    upload.removeAttribute("value");
    tell("The pack has arrived; it is checked, and patches to it are made …");
  });
  upload.value = 0;
  upload.hidden = false;
  tell(`Sending ${pack.name} …`);
  return new Promise((resolve) => {
    request.addEventListener("loadend", () => {
      upload.hidden = true;
      if (request.status >= 200 && request.status < 300) {
        show(JSON.parse(request.responseText));
        tell(`${pack.name} is published.`);
      } else {
        tellError(message(request.status, request.responseText));
      }
      resolve();
    });
    request.send(pack);
  });
}

function allowChanges() {
  const isAllowed = byId("token").value !== "";
  for (const node of document.querySelectorAll("main button.change")) {
    node.disabled = !isAllowed;
    node.title = isAllowed ? "" : "Enter the token first";
  }
}

byId("token").addEventListener("input", allowChanges);
byId("token-form").addEventListener("submit", (event) => event.preventDefault());

byId("pack").addEventListener("change", () => {
  const file = byId("pack").files[0];
  const name = file && /^(.+)-\d[^-]*(-.*)?\.zip$/.exec(file.name);
  if (name && byId("module").value === "") byId("module").value = name[1];
});

byId("publish-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const submit = event.submitter;
  if (submit) submit.disabled = true;
  await publish(byId("module").value, byId("pack").files[0], byId("rollout").value, byId("network").value);
  allowChanges();
});

load().catch((error) => tellError(error.message));
