/**
 * Whom an event concerned, by the level that decided.
 */

import { h, s } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { OUTCOMES } from "../../core/outcomes.js";
import { swatch } from "../../components/chart.js";

/** @param {object} event */
export function recipientsOf({ recipients, why }) {
  const whole = recipients.resolved;
  if (whole === 0) return h("p", { class: "muted" }, why ? `This event concerned nobody: ${why}.` : "This event concerned nobody.");
  let x = 0;
  const parts = OUTCOMES.map(({ tone, pick }) => {
    const width = pick(recipients) / whole * 100;
    const part = s("rect", { class: `tone-${tone}`, x, width, y: 0, height: 8 });
    x += width;
    return part;
  });
  return h("div", null,
    s("svg", { class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, parts),
    h("table", { class: "figures" }, h("caption", { class: "visually-hidden" }, "Recipients by what decided"),
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Decided"), h("th", { scope: "col", class: "numeric" }, "People"))),
      h("tbody", null, OUTCOMES.map(({ label, tone, pick, words }) => h("tr", { class: pick(recipients) === 0 && "none" },
        h("th", { scope: "row" }, swatch(tone), label, h("div", { class: "muted decided-words" }, words)),
        h("td", { class: "numeric" }, number(pick(recipients)))))),
      h("tfoot", null, h("tr", null, h("th", { scope: "row" }, "All"), h("td", { class: "numeric" }, number(whole))))));
}
