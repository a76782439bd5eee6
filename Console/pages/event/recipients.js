/**
 * Whom an event concerned, by the level that decided.
 */

import { h, s } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { swatch } from "../../components/chart.js";

const ROWS = [
  ["Notified", "good", (recipients) => recipients.notified, "All switches allowed it."],
  ["Suppressed by network", 1, (recipients) => recipients.suppressed.network, "A switch of the whole network."],
  ["Suppressed by user", 2, (recipients) => recipients.suppressed.user, "Their own switches or quiet hours."],
  ["Suppressed by channel", 3, (recipients) => recipients.suppressed.channel, "Their switches for this channel."],
  ["Left out by an endpoint", 4, (recipients) => recipients.suppressed.endpoint ?? 0, "The server that is asked before sending."],
  ["No device", 5, (recipients) => recipients.noDevice, "Nothing to reach them on."],
];

/** @param {object} event */
export function recipientsOf({ recipients }) {
  const whole = recipients.resolved;
  if (whole === 0) return h("p", { class: "muted" }, "This event concerned nobody.");
  let x = 0;
  const parts = ROWS.map(([, tone, pick]) => {
    const width = pick(recipients) / whole * 100;
    const part = s("rect", { class: `tone-${tone}`, x, width, y: 0, height: 8 });
    x += width;
    return part;
  });
  return h("div", null,
    s("svg", { class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, parts),
    h("table", { class: "figures" }, h("caption", { class: "visually-hidden" }, "Recipients by what decided"),
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Decided"), h("th", { scope: "col", class: "numeric" }, "People"))),
      h("tbody", null, ROWS.map(([label, tone, pick, words]) => h("tr", { class: pick(recipients) === 0 && "none" },
        h("th", { scope: "row" }, swatch(tone), label, h("div", { class: "muted decided-words" }, words)),
        h("td", { class: "numeric" }, number(pick(recipients)))))),
      h("tfoot", null, h("tr", null, h("th", { scope: "row" }, "All"), h("td", { class: "numeric" }, number(whole))))));
}
