/**
 * Events, the newest first, as they come.
 */

import { now } from "../core/connection.js";
import { h } from "../core/dom.js";
import { duration, eventTypeName, eventTypes, number } from "../core/format.js";
import { stateBadge } from "../components/badge.js";
import { field } from "../components/field.js";
import { inAddress } from "../components/filters.js";
import { liveBadge } from "../components/live-badge.js";
import { code } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { listing } from "../components/table.js";
import { time } from "../components/time.js";

export const title = "Events";
export const styles = ["events"];

const POLL_MS = 2000;
const PAGE_SIZE = 50;
const TYPING_MS = 350;
const STATES = [["", "Any state"], ["accepted", "Accepted"], ["delivering", "Delivering"], ["done", "Done"]];
const FILTERS = ["type", "state", "channelId", "userId", "sourceId", "from", "to"];

export function render(page) {
  const asked = () => Object.fromEntries(FILTERS.map((key) => [key, page.query[key]]));
  const isFiltered = () => FILTERS.some((key) => page.query[key]);
  const load = async ({ cursor } = {}) => (await page.api.get(page.path("events"), {
    query: { ...asked(), limit: PAGE_SIZE, cursor }, signal: page.signal })).data;

  const list = listing({
    caption: "Events, newest first",
    noun: "event",
    columns: [
      { title: "Type", whole: true, cell: (event) => eventTypeName(event.type) },
      { title: "Sender’s id", wide: true, cell: (event) => code(event.sourceId, { longest: 60 }) },
      { title: "Accepted", cell: (event) => time(event.receivedAt) },
      { title: "State", cell: (event) => [stateBadge(event.state), event.failure ? [" ", stateBadge("failed")] : null] },
      { title: "People", whole: true, cell: people },
      { title: "Devices", cell: devices },
    ],
    rowKey: (event) => event.id,
    rowHref: (event) => page.href("events", event.id),
    load,
    live: true,
    empty: () => (isFiltered() ? { title: "No event matches", text: "Try fewer filters, or another time.", picture: "search" }
      : { title: "No event yet", text: "Events that the chat backend posts appear here by themselves.", picture: "events",
        action: h("div", { class: "form-buttons" }, h("a", { class: "button", href: page.href("try") }, "Post one to try it"),
          h("a", { class: "button quiet", href: page.href("posts") }, "See what was refused")) }),
  });
  const watch = page.live(() => list.refresh(), POLL_MS, { onError: (error) => list.fail(error, { retry: again }) });

  function again() {
    list.restart();
    watch.now();
  }

  return pageView({ title: "Events", lead: "What the chat backend posted, and what became of it.", actions: [liveBadge(watch)] },
    filters(page, again), section({ flush: true }, list));
}

function people({ recipients }) {
  if (recipients.resolved === 0) return h("span", { class: "muted" }, "nobody");
  return h("span", { title: `${number(recipients.resolved)} concerned` }, `${number(recipients.notified)} of ${number(recipients.resolved)} notified`);
}

function devices({ deliveries }) {
  const parts = [[deliveries.delivered, "delivered", "good"], [deliveries.pending, "waiting", "info"],
    [deliveries.unregistered, "unregistered", "warn"], [deliveries.expired, "expired", "warn"], [deliveries.dead, "given up", "bad"]]
    .filter(([value]) => value > 0);
  if (parts.length === 0) return h("span", { class: "muted" }, "none");
  return h("span", { class: "counts" }, parts.map(([value, word, kind]) => h("span", { class: ["count", kind] }, `${number(value)} ${word}`)));
}

function filters(page, onChange) {
  const change = inAddress(page, onChange);
  const text = (key, label) => field({ label, name: key, type: "search", value: page.query[key], maxlength: "256", onInput: change(key, TYPING_MS) });
  const choice = (key, label, options) => field({ label, name: key, type: "select", value: page.query[key] ?? "", options, onInput: change(key, 0) });
  const since = [["", "Any time"], ...[600_000, 3_600_000, 86_400_000, 604_800_000].map((ms) => [String(ms), `Last ${duration(ms)}`])];
  return h("form", { class: "filters", role: "search", "aria-label": "Filter events", on: { submit: (event) => event.preventDefault() } },
    choice("type", "Type", [{ value: "", label: "Any type" }, ...eventTypes.map((type) => ({ value: type, label: eventTypeName(type) }))]),
    choice("state", "State", STATES.map(([value, label]) => ({ value, label }))),
    text("channelId", "Channel’s id"), text("userId", "Acting user’s id"), text("sourceId", "Sender’s id"),
    sinceField(page, since, onChange));
}

/** A span of time becomes an instant in the address: it must not move while one looks. */
function sinceField(page, options, onChange) {
  const fixed = page.query.from || page.query.to;
  const all = options.map(([value, label]) => ({ value, label }));
  if (fixed) all.push({ value: "fixed", label: "As in the address" });
  return field({ label: "Accepted", name: "since", type: "select", value: fixed ? "fixed" : "", options: all, onInput: (value) => {
    if (value === "fixed") return;
    page.setQuery({ from: value ? new Date(now() - Number(value)).toISOString() : null, to: null });
    onChange();
  } });
}
