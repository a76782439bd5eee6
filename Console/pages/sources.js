/**
 * Sources: servers of the network's own that are asked for events, where they cannot post them themselves.
 */

import { h } from "../core/dom.js";
import { count, duration } from "../core/format.js";
import { titleOf } from "../core/pages.js";
import { attempt } from "../components/attempt.js";
import { stateBadge } from "../components/badge.js";
import { confirm } from "../components/dialog.js";
import { icon } from "../components/icon.js";
import { liveBadge } from "../components/live-badge.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { reasonView } from "../components/reason.js";
import { listing } from "../components/table.js";
import { time } from "../components/time.js";
import { toast } from "../components/toast.js";
import { sourceDialog } from "./sources/form.js";

export const title = titleOf("sources");

const LOOK_EVERY_MS = 5000;

/** @param {object} page */
export function render(page) {
  const list = listing({
    caption: "Sources",
    noun: "source",
    live: true,
    rowKey: ({ id }) => id,
    columns: [
      { title: "Source", wide: true, cell: ({ id, url }) => [name(id, { longest: 60 }), h("div", { class: "muted small" }, code(url, { longest: 80 }))] },
      { title: "State", cell: (source) => stateBadge(stateOf(source)) },
      { title: "Asked", cell: ({ lastPollAt, intervalSeconds }) => [time(lastPollAt, { fallback: "not yet" }),
        h("div", { class: "muted small" }, `every ${duration(intervalSeconds * 1000)}`)] },
      { title: "Last answer", cell: answer },
      { title: "Actions", hideTitle: true, cell: (source) => h("div", { class: "row-actions" },
        button("Change", source, edit), button("Remove", source, remove, "danger quiet")) },
    ],
    load: async () => (await page.api.get(page.path("sources"), { signal: page.signal })).data,
    empty: { title: "No source", picture: "sources", text: "Whoever can post events needs none: a source is asked for them, every few seconds." },
  });
  const watch = page.live(() => list.refresh(), LOOK_EVERY_MS, { onError: (error) => list.fail(error, { retry: () => watch.now() }) });

  function button(label, source, run, kind) {
    return h("button", { class: ["button", "small", kind], type: "button", on: { click: () => run(source) } }, label,
      h("span", { class: "visually-hidden" }, ` ${source.id}`));
  }

  async function edit(source) {
    const saved = await sourceDialog(page, source);
    if (!saved) return;
    toast(source ? "Saved. It is asked at once." : "The source is made. It is asked at once.", { kind: "good" });
    await watch.now();
  }

  async function remove(source) {
    const isSure = await confirm({ title: "Remove this source?", act: "Remove", danger: true,
      text: ["It is not asked any more, and up to where it was read is forgotten: ", code(source.url, { longest: 120 })] });
    if (!isSure) return;
    await attempt(async () => {
      await page.api.delete(page.path("sources", source.id), { signal: page.signal });
      await watch.now();
    });
  }

  return pageView({ title, lead: "Servers of yours that are asked for events and notifications, where they cannot post them themselves. At most 20.", actions: [
    liveBadge(watch),
    h("button", { class: "button primary", type: "button", on: { click: () => edit() } }, icon("plus"), "New source"),
  ] }, section({ flush: true }, list));
}

function stateOf({ enabled, failures }) {
  return !enabled ? "disabled" : failures > 0 ? "failing" : "working";
}

function answer({ failures, lastError, lastPollAt, skippedItems }) {
  const skipped = skippedItems > 0 && h("div", { class: "muted small" }, `${count(skippedItems, "item was", "items were")} no events`);
  if (lastError) return [reasonView(lastError), failures > 1 && h("div", { class: "muted small" }, `${count(failures, "time", "times")} in a row`), skipped];
  return [lastPollAt ? "Good" : h("span", { class: "muted" }, "none yet"), skipped];
}
