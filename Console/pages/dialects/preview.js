/**
 * What a body would become: it is read as if it had been posted, and nothing is stored.
 */

import { fill, h } from "../../core/dom.js";
import { eventTypeName } from "../../core/format.js";
import { field, form } from "../../components/field.js";
import { section } from "../../components/page.js";
import { name } from "../../components/name.js";
import { verdictBadge } from "../../components/verdict.js";

/** The canonical events of an answer. */
function eventsOf({ status, reason, events }) {
  return [
    h("p", null, verdictBadge(status), reason && [" ", name(reason, { longest: 300 })]),
    events.length === 0 && h("p", { class: "muted" }, "Nothing that Carillon knows is in it: its sender would be told that all is well, and nobody would be notified."),
    events.map((event) => h("div", { class: "preview-event" }, h("h3", null, name(eventTypeName(event.type), { longest: 80 })),
      h("pre", { class: "code", tabindex: "0", role: "region", "aria-label": "The event as it would be stored" }, JSON.stringify(event, null, 2)))),
  ];
}

/**
 * @param {object} page
 * @param {object} dialect of the catalogue
 */
export function previewSection(page, dialect) {
  const outcome = h("div", { class: "preview-outcome", role: "status" });
  const type = dialect.types && field({ label: "Content-Type", name: "type", type: "select", options: dialect.types });
  const body = field({ label: "Body", name: "body", type: "textarea", rows: 8, mono: true, required: true,
    hint: "As it is posted, without a signature. Nothing is stored and nobody is notified." });

  async function run() {
    fill(outcome);
    const headers = { "content-type": type?.value ?? "application/json" };
    const { data } = await page.api.post(page.path("dialects", dialect.id, "preview"), body.value, { headers, signal: page.signal });
    fill(outcome, eventsOf(data));
  }

  return section({ title: "What would it become?" },
    form({ body: [type, body], submit: "Read it", onSubmit: run }), outcome);
}
