/**
 * Import: a file of lines fills the directory; what is in it is seen before it is sent.
 */

import { isAbort } from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { count, number } from "../core/format.js";
import { titleOf } from "../core/pages.js";
import { upload } from "../core/upload.js";
import { dropZone } from "../components/drop-zone.js";
import { name } from "../components/name.js";
import { notice } from "../components/notice.js";
import { facts, pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { announce, toast } from "../components/toast.js";
import { examine, KINDS } from "./import/lines.js";

export const title = titleOf("import");
export const styles = ["code", "drop"];

const EXAMPLE = [
  { user: { id: "bob", displayName: "Bob", locale: "en" } }, { channel: { id: "general", displayName: "General" } },
  { member: { channelId: "general", userId: "bob" } }, { device: { id: "d-1", userId: "bob", provider: "fcm", appId: "com.example.chat", token: "…" } },
  { tag: { id: "beta", selfService: true } }, { subscription: { tag: "beta", userId: "bob" } },
].map((line) => JSON.stringify(line)).join("\n");

/** @param {object} page */
export function render(page) {
  const place = h("div", { class: "stack", "aria-live": "polite" });
  let looked = new AbortController();
  let isSending = false;

  async function take([file]) {
    if (!file) return;
    if (isSending) {
      toast("The import is not over: drop the file again when it is.", { kind: "bad" });
      return;
    }
    looked.abort();
    looked = new AbortController();
    const signal = AbortSignal.any([page.signal, looked.signal]);
    fill(place, h("p", { class: "muted" }, "Looking at ", name(file.name, { longest: 80 }), "…"));
    try {
      const found = await examine(file, signal);
      if (!signal.aborted) show(file, found);
    } catch (error) {
      if (!signal.aborted) fill(place, problem(error, { compact: true }));
    }
  }

  function show(file, { counts, total, mistakes, wrong }) {
    const button = h("button", { class: "button primary", type: "button", on: { click: () => send(file) } }, `Import ${count(total, "line")}`);
    fill(place, section({ title: h("span", null, "What is in ", name(file.name, { longest: 80 })) },
      facts(Object.entries(KINDS).map(([kind, words]) => counts[kind] && [words, number(counts[kind])])),
      total === 0 && h("p", { class: "muted" }, "There is no line in it."),
      wrong > 0 && [notice("bad", `${count(wrong, "line cannot", "lines cannot")} be read, and nothing would be imported:`),
        h("ul", null, mistakes.map(({ line, words }) => h("li", null, `Line ${number(line)} `, name(words, { longest: 200 })))),
        wrong > mistakes.length && h("p", { class: "muted" }, `and ${number(wrong - mistakes.length)} more`)],
      total > 0 && wrong === 0 && [h("p", null, "What is known already becomes what the lines say; what they do not name stays as it is."), button]));
    if (button.isConnected) button.focus();
  }

  async function send(file) {
    looked.abort();
    isSending = true;
    const bar = h("progress", { max: "1", value: 0, "aria-label": "Sent" });
    const words = h("p", null, "Sending…");
    fill(place, section({ title: "The import is under way" }, words, bar));
    const release = page.hold("The import is not over: leaving ends it while the file is being sent.");
    try {
      const { data } = await upload(page.path("import"), file, { type: "application/x-ndjson", signal: page.signal, onProgress: (share) => {
        bar.value = share;
        if (share < 1) return;
        bar.removeAttribute("value");
        fill(words, "Everything is sent. The lines are checked and applied…");
      } });
      fill(place, section({ title: "It is imported" }, facts(Object.entries(data).map(([kind, lines]) => [kind, number(lines)]))));
      announce("It is imported");
    } catch (error) {
      if (!isAbort(error)) fill(place, problem(error, { retry: () => send(file) }));
    } finally {
      isSending = false;
      release();
    }
  }

  return pageView({ title, lead: "Users, channels, members, devices and tags from a file, as they were elsewhere. All lines are checked before the first one is applied." },
    section({}, dropZone(page, { title: "Drop a file of lines here", text: "One JSON object a line (.ndjson, .jsonl). It is looked at in this browser first.",
      accept: ".ndjson,.jsonl,.json,.txt", onFiles: take })),
    place,
    section({ title: "What lines look like" }, h("pre", { class: "code", tabindex: "0", "aria-label": "What lines look like" }, EXAMPLE)));
}
