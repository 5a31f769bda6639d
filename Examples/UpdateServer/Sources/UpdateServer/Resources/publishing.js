import { byID, report, reportFailure } from "./elements.js";
import { allowChanges, show } from "./modules.js";
import { address, authorization, message } from "./server.js";

/** Sends a pack; only XMLHttpRequest reports the progress of an upload. */
function publish(module, pack, rollout, network) {
  const upload = byID("upload");
  const request = new XMLHttpRequest();
  request.open("POST", address(module, "publish", network ? { rollout, network } : { rollout }));
  request.setRequestHeader("Authorization", authorization());
  request.setRequestHeader("Content-Type", "application/zip");
  request.upload.addEventListener("progress", event => {
    if (event.lengthComputable) upload.value = event.loaded / event.total;
  });
  request.upload.addEventListener("load", () => {
    upload.removeAttribute("value");
    report("The pack has arrived; it is checked, and patches to it are made …");
  });
  upload.value = 0;
  upload.hidden = false;
  report(`Sending ${pack.name} …`);
  return new Promise(done => {
    request.addEventListener("loadend", () => {
      upload.hidden = true;
      if (request.status >= 200 && request.status < 300) {
        show(JSON.parse(request.responseText));
        report(`${pack.name} is published.`);
      } else {
        reportFailure(message(request.status, request.responseText));
      }
      done();
    });
    request.send(pack);
  });
}

export function start() {
  byID("pack").addEventListener("change", () => {
    const file = byID("pack").files[0];
    const name = file && /^(.+)-\d[^-]*(-.*)?\.zip$/.exec(file.name);
    if (name && byID("module").value === "") byID("module").value = name[1];
  });
  byID("publish-form").addEventListener("submit", async event => {
    event.preventDefault();
    const button = byID("publish-form").querySelector("button");
    button.disabled = true;
    await publish(byID("module").value, byID("pack").files[0], byID("rollout").value, byID("network").value);
    allowChanges();
  });
}
