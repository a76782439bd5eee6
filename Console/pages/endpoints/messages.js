/**
 * What an endpoint was told: the latest events first.
 */

import { h } from "../../core/dom.js";
import { duration, eventTypeName } from "../../core/format.js";
import { stateBadge } from "../../components/badge.js";
import { openDialog } from "../../components/dialog.js";
import { name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { listing } from "../../components/table.js";
import { segmented } from "../../components/segmented.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";

const PAGE = 50;
const STATES = [
  { value: "", label: "All" },
  { value: "pending", label: "Waiting" },
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
];

/**
 * @param {object} page
 * @param {string} id of the endpoint
 * @returns {HTMLElement & {reload: () => Promise<void>}}
 */
export function messages(page, id) {
  let state = page.query.state ?? "";
  const list = listing({
    caption: "Messages, the latest events first",
    noun: "message",
    rowKey: (message) => message.eventId,
    load: async ({ cursor }) => {
      const query = { state, cursor, limit: PAGE };
      return (await page.api.get(page.path("endpoints", id, "deliveries"), { signal: page.signal, query })).data;
    },
    empty: { title: "No messages", picture: "endpoints", text: "An endpoint begins ten seconds after it was made or enabled. Messages are shown for two weeks." },
    columns: [
      { title: "Event", wide: true, cell: (message) => h("a", { href: page.href("events", message.eventId) }, eventTypeName(message.type)) },
      { title: "State", cell: (message) => stateBadge(message.state) },
      { title: "Answer", cell: (message) => name(message.error ?? (message.status === null ? null : `http ${message.status}`), { fallback: "none yet", longest: 100 }) },
      { title: "Took", numeric: true, cell: (message) => (message.ms === null ? "–" : duration(message.ms)) },
      { title: "Attempts", numeric: true, cell: (message) => String(message.attempts) },
      { title: "When", cell: (message) => time(message.at) },
      { title: "Actions", hideTitle: true, cell: (message) =>
        h("button", { class: "button small quiet", type: "button", on: { click: (event) => retry(message, event.currentTarget) } },
          message.state === "delivered" ? "Tell again" : "Retry", h("span", { class: "visually-hidden" }, ` event ${message.eventId}`)) },
    ],
  });

  async function retry(message, button) {
    button.setAttribute("aria-busy", "true");
    try {
      await page.api.post(page.path("endpoints", id, "deliveries", message.eventId, "retry"), undefined, { signal: page.signal });
      toast("It is told again.", { kind: "good" });
      await list.reload();
    } catch (error) {
      if (page.signal.aborted) return;
      await openDialog({ title: "It was not told again", body: problem(error), actions: [{ label: "Close", kind: "primary" }] });
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  const choice = segmented({ label: "Which messages", options: STATES, value: state, onChange: (value) => {
    state = value;
    page.setQuery({ state });
    list.restart();
    list.reload();
  } });
  const refresh = h("button", { class: "button small", type: "button", on: { click: () => list.reload() } }, "Refresh");
  const element = section({ title: "What it was told", flush: true, actions: [choice, refresh] }, list);
  element.reload = () => list.reload();
  return element;
}
