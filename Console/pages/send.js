/**
 * Send: a direct notification, seen before it goes, with how many it goes to, and followed afterwards.
 */

import { fill, h } from "../core/dom.js";
import { idsIn } from "../core/format.js";
import { postOnce } from "../core/idempotency.js";
import { latest } from "../core/latest.js";
import { titleOf } from "../core/pages.js";
import { confirm } from "../components/dialog.js";
import { field, form } from "../components/field.js";
import { name } from "../components/name.js";
import { notificationFrames } from "../components/notification.js";
import { pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { stepList } from "../components/steps.js";
import { suggestions } from "../components/suggestions.js";
import { AUDIENCES, measure } from "./send/audience.js";
import { eventSteps, follow } from "./try/follow.js";

export const title = titleOf("send");
export const styles = ["notification", "steps", "try"];

const PAUSE_MS = 300;
const MODULES = ["direct", "chat", "social", "video"].map((value) => ({ value, label: value === "direct" ? "none of the chat’s (direct)" : value }));
const PRIORITIES = [{ value: "high", label: "high: at once" }, { value: "normal", label: "normal" }, { value: "low", label: "low: when it suits the phone" }];

/** @param {object} page */
export async function render(page) {
  const { data: network } = await page.api.get(page.path(), { signal: page.signal });
  const kind = field({ label: "To", name: "kind", type: "select", value: "userIds", pointer: "",
    options: Object.entries(AUDIENCES).map(([value, { option }]) => ({ value, label: option })), onInput: choose });
  const place = h("div");
  const heading = field({ label: "Title", name: "title", onInput: look });
  const text = field({ label: "Text", name: "body", type: "textarea", rows: 3, onInput: look });
  const module = field({ label: "Switch that is asked", name: "module", type: "select", options: MODULES, value: "direct", onInput: look });
  const priority = field({ label: "Priority", name: "priority", type: "select", options: PRIORITIES, value: "high" });
  const audience = h("p", { class: "audience", role: "status" });
  const verdict = h("p", { class: "muted small" });
  const frames = notificationFrames({ waiting: "What you write is shown here." });
  const outcome = h("div", { class: "try-outcome" });
  let ids = null;
  let known = null;
  let following = null;
  const post = postOnce(page);

  function choose() {
    const { label, hint, placeholder, list } = AUDIENCES[kind.value];
    ids = field({ label, name: "ids", hint, placeholder, required: kind.value !== "everyone", pointer: "/to", suggestions: list && [], onInput: look });
    ids.hidden = kind.value === "everyone";
    known = list ? suggestions(page, ids, list) : null;
    fill(place, ids);
    look();
  }

  /** Whom it is for, as the API takes it; null while nobody is named. */
  function to() {
    if (kind.value === "everyone") return { everyone: true };
    const meant = (id) => known?.resolve(id) ?? id;
    const named = idsIn(ids.value);
    if (named.length === 0) return null;
    return { [kind.value]: AUDIENCES[kind.value].isMany ? named.map(meant) : meant(ids.value.trim()) };
  }

  function notification() {
    return { to: to(), title: heading.value || undefined, body: text.value || undefined, module: module.value, priority: priority.value };
  }

  const question = latest(async (what, { signal }) => {
    const found = what.to && await measure(page, what.to, { signal });
    fill(audience, found ? ["It goes to ", h("strong", null, found.words), "."] : "It goes to nobody yet.");
    await preview(what, found?.user, signal);
  }, { ms: PAUSE_MS, signal: page.signal, onError: (error) => fill(audience, problem(error, { compact: true })) });

  /** What one of them would get, by the service’s own word. */
  async function preview(what, user, signal) {
    fill(verdict);
    if (!what.title && !what.body) return frames.clear("What you write is shown here.");
    let shown = { title: what.title ?? "", body: what.body ?? "", locale: network.defaultLocale };
    if (user) {
      const asked = { event: { type: "notification.direct", data: what }, userId: user };
      const { data } = await page.api.post(page.path("explain"), asked, { signal });
      shown = data.notification ?? shown;
      fill(verdict, name(user, { longest: 60 }), data.verdict === "deliver" ? ", for one, would be notified." : " would not be notified. ",
        data.verdict !== "deliver" && h("a", { href: `${page.href("people", user)}?tab=why` }, "Why?"));
    }
    frames.show(shown);
  }

  function look() {
    question.ask(notification());
  }

  async function send() {
    const what = notification();
    const found = await measure(page, what.to, { signal: page.signal });
    const isSure = await confirm({ title: `Send it to ${found.words}?`, act: "Send",
      text: found.isNobody ? "Nobody would get it: look whether the ids are right." : "It is shown on their devices at once and cannot be called back there." });
    if (!isSure) return;
    const { data: receipt } = await post(page.path("notifications"), what);
    following?.abort();
    following = new AbortController();
    const list = stepList(eventSteps);
    fill(outcome, list.element);
    follow(page, list, receipt, AbortSignal.any([page.signal, following.signal]));
  }

  choose();
  return pageView({ title, lead: "A notification of your own, to whom you choose. Switches are asked as for any other." },
    h("div", { class: "try-columns" },
      section({ title: "What is sent" }, form({ body: [kind, place, heading, text, h("div", { class: "form-grid" }, module, priority), audience],
        submit: "Send…", onSubmit: send, "aria-label": "Send a notification" }), outcome),
      section({ title: "What they see" }, frames.element, verdict)));
}
