import { byID, reportFailure } from "./elements.js";
import { allowChanges, show } from "./modules.js";
import * as publishing from "./publishing.js";
import { ask } from "./server.js";

byID("token").addEventListener("input", allowChanges);
byID("token-form").addEventListener("submit", event => event.preventDefault());
publishing.start();
try {
  show(await ask("api/modules", { cache: "no-store" }));
} catch (error) {
  byID("catalogue").textContent = "";
  allowChanges();
  reportFailure(error.message);
}
