/**
 * One endpoint: how it is, what it was told, and what can be done about it.
 */

import { fill, h } from "../../core/dom.js";
import { duration } from "../../core/format.js";
import { titleOf } from "../../core/pages.js";
import { badge } from "../../components/badge.js";
import { confirm } from "../../components/dialog.js";
import { icon } from "../../components/icon.js";
import { code, name } from "../../components/name.js";
import { facts, pageView, section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";
import { rotate } from "../../components/rotate.js";
import { answers } from "./answers.js";
import { endpointState, modeBadge } from "./badges.js";
import { endpointDialog } from "./form.js";
import { messages } from "./messages.js";
import { replayDialog } from "./replay.js";

const LOOK_EVERY_MS = 5000;

/**
 * @param {object} page
 * @param {string} id
 */
export async function renderOne(page, id) {
  const path = page.path("endpoints", id);
  const options = { signal: page.signal };
  let endpoint = (await page.api.get(path, options)).data;
  // Moves with every look and every change: what was asked for before is older than what is shown.
  let asked = 0;
  const heading = h("span");
  const state = h("div");
  const outcome = h("div", { class: "endpoint-outcome", role: "status" });
  const use = h("button", { class: "button", type: "button", on: { click: flip } });
  const told = endpoint.mode === "observe" ? messages(page, id) : null;
  const mode = endpoint.mode;

  const button = (label, picture, run, kind) =>
    h("button", { class: ["button", kind], type: "button", on: { click: guarded(run) } }, icon(picture), label);

  /** Runs what a button is for; what goes wrong is said, and the button rests meanwhile. */
  function guarded(run) {
    return async ({ currentTarget }) => {
      if (currentTarget.getAttribute("aria-busy")) return;
      currentTarget.setAttribute("aria-busy", "true");
      try {
        await run();
      } catch (error) {
        if (!page.signal.aborted) fill(outcome, problem(error, { compact: true }));
      } finally {
        currentTarget.removeAttribute("aria-busy");
      }
    };
  }

  function flip(event) {
    return guarded(async () => {
      take((await page.api.patch(path, { enabled: endpoint.state !== "enabled" }, options)).data);
      toast(endpoint.state === "enabled" ? "In use again. It begins in ten seconds." : "No longer in use.", { kind: "good" });
    })(event);
  }

  async function test() {
    const { data } = await page.api.post(`${path}/test`, undefined, options);
    const isGood = data.status >= 200 && data.status < 300;
    fill(outcome, h("p", { class: "endpoint-answer" },
      badge(data.status === null ? "No answer" : `Answered ${data.status}`, isGood ? "good" : "bad"),
      ` after ${duration(data.ms)}`, data.error && [": ", name(data.error, { longest: 300 })]));
    await look();
  }

  async function edit() {
    const changed = await endpointDialog(page, endpoint);
    if (!changed) return;
    if (changed.mode !== mode) return page.navigate(page.href("endpoints", id), { replace: true });
    take(changed);
    toast("Saved.", { kind: "good" });
  }

  async function remove() {
    const agreed = await confirm({
      title: "Remove this endpoint?",
      text: ["What waits for it is forgotten, and its secret with it: ", code(endpoint.url, { longest: 120 })],
      act: "Remove",
      danger: true,
    });
    if (!agreed) return;
    await page.api.delete(path, options);
    toast("The endpoint is removed.", { kind: "good" });
    page.navigate(page.href("endpoints"));
  }

  const changeSecret = () => rotate(page, {
    title: "New secret",
    words: "While both are valid, each message has both signatures: change your server at any time within it.",
    path: `${path}/secret/rotate`,
    read: (data) => data.secret,
    label: "Endpoint secret",
  });

  async function replay() {
    const events = await replayDialog(page, endpoint);
    if (events !== undefined) toast(`${events} ${events === 1 ? "event is" : "events are"} told again.`, { kind: "good" });
    await told?.reload();
  }

  function show() {
    fill(heading, name(endpoint.description || endpoint.url, { longest: 80 }));
    fill(use, icon(endpoint.state === "enabled" ? "pause" : "try"), endpoint.state === "enabled" ? "Disable" : "Enable");
    fill(state, facts([
      ["State", [endpointState(endpoint), endpoint.stateReason && [" ", name(endpoint.stateReason)]]],
      ["Circuit", endpoint.circuit === "open" ? "open: it is left alone for a while after ten failures in a row" : "closed"],
      ["Last success", time(endpoint.lastSuccessAt, { fallback: "never" })],
      ["Last error", name(endpoint.lastError, { fallback: "none" })],
      ["URL", code(endpoint.url)],
      ["Mode", modeBadge(endpoint.mode)],
      ["Events", code(endpoint.events.join(", "))],
      endpoint.mode === "observe" && ["Kept for a replay", `${endpoint.replayHours} h`],
      endpoint.mode === "intercept" && ["Answers within", `${endpoint.timeoutMs} ms`],
      endpoint.mode === "intercept" && ["Without a good answer", endpoint.onFailure],
      endpoint.mode === "intercept" && ["Told who is to be notified", endpoint.includeRecipients ? "yes" : "no"],
      ["Made", time(endpoint.createdAt)],
      ["Id", code(endpoint.id)],
    ]));
  }

  function take(next) {
    asked += 1;
    const isNews = JSON.stringify(next) !== JSON.stringify(endpoint);
    endpoint = next;
    if (isNews) show();
  }

  async function look() {
    asked += 1;
    const mine = asked;
    const { data } = await page.api.get(path, options);
    if (mine === asked) take(data);
  }

  show();
  page.live(look, LOOK_EVERY_MS, {
    onError: (error) => {
      if (!error.isPassing) fill(outcome, problem(error, { compact: true }));
    },
  });
  return pageView(
    { title: heading, back: { href: page.href("endpoints"), label: titleOf("endpoints") }, actions: [
      button("Send a test", "try", test, "primary"), button("Edit", "templates", edit), use,
    ] },
    outcome,
    section({ title: "How it is", actions: [
      button("Rotate secret", "refresh", changeSecret),
      mode === "observe" && button("Replay", "clock", replay),
      button("Remove", "trash", remove),
    ] }, state),
    told,
    mode === "intercept" && answers(page, id),
  );
}
