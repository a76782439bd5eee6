/**
 * One event: whom it concerned, what became of each device, and when.
 */

import { isAbort } from "../core/api.js";
import { h, fill } from "../core/dom.js";
import { absoluteTime, eventTypeName, number } from "../core/format.js";
import { stateBadge } from "../components/badge.js";
import { copyButton } from "../components/copy.js";
import { confirm } from "../components/dialog.js";
import { liveBadge } from "../components/live-badge.js";
import { code, name } from "../components/name.js";
import { facts, pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { time } from "../components/time.js";
import { toast } from "../components/toast.js";
import { deliveriesOf } from "./event/deliveries.js";
import { deviceFilter } from "./event/filter.js";
import { recipientsOf } from "./event/recipients.js";
import { stagesOf } from "./event/stages.js";

export const title = (page) => `Event ${page.params.id}`;
export const styles = ["overview", "steps", "events"];

const MOVING_MS = 2000;
const RESTING_MS = 15_000;

export async function render(page) {
  const path = page.path("events", page.params.id);
  let { data: event } = await page.api.get(path, { signal: page.signal });
  const state = h("span", { class: "event-state" });
  const withdraw = h("button", { class: "button", type: "button", on: { click: ask } }, "Withdraw what waits");
  const trouble = h("div");
  const concerned = h("span");
  const recipients = h("div");
  const stages = h("div");
  const devices = deliveriesOf(page, { onChange: showStages });
  let readAt = Date.now();
  // Whether the devices are not read yet as the event is shown.
  let isBehind = true;

  function show() {
    fill(state, stateBadge(event.state));
    withdraw.hidden = event.state === "done";
    fill(trouble, event.failure && h("div", { class: ["problem", event.state !== "done" && "passing"] }, h("div", { class: "problem-words" },
      h("p", { class: "problem-title" }, event.state === "done" ? "It was given up" : "Its recipients could not be found yet; this is tried again"),
      h("p", null, name(event.failure, { longest: 500 })))));
    fill(concerned, number(event.recipients.resolved));
    fill(recipients, recipientsOf(event));
    showStages();
  }

  function showStages() {
    fill(stages, stagesOf(event, devices.known(), devices.isWhole()));
  }

  async function again() {
    devices.restart();
    try {
      await devices.refresh();
    } catch (error) {
      if (!isAbort(error)) devices.fail(error, { retry: again });
    }
  }

  async function look() {
    // A finished event moves again only when a dead letter is sent once more: that may be seen later.
    if (event.state === "done" && !isBehind && Date.now() - readAt < RESTING_MS) return;
    const answer = await page.api.get(path, { signal: page.signal });
    const isNews = JSON.stringify(answer.data) !== JSON.stringify(event);
    isBehind ||= isNews || event.state !== "done";
    readAt = Date.now();
    event = answer.data;
    if (isNews) show();
    if (isBehind) await devices.refresh();
    isBehind = false;
  }

  async function ask() {
    const isSure = await confirm({ title: "Withdraw what waits?", act: "Withdraw", danger: true,
      text: "What was not handed to a push service yet ends as expired, and no more recipients are looked for. " +
        "What is being sent at this moment may still arrive." });
    if (!isSure) return;
    try {
      await page.api.delete(page.path("events", event.id, "deliveries"), { signal: page.signal });
      toast("What waits is being withdrawn", { kind: "good" });
      await watch.now();
    } catch (error) {
      if (!isAbort(error)) toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
    }
  }

  show();
  await devices.refresh();
  isBehind = false;
  const watch = page.live(look, MOVING_MS);
  return pageView({
    title: h("span", { class: "event-title" }, eventTypeName(event.type), " ", state),
    back: { href: page.href("events"), label: "Events" },
    actions: [liveBadge(watch), withdraw],
  },
  trouble,
  section({}, facts([
    ["Sender’s id", code(event.sourceId)],
    ["Carillon’s id", h("span", { class: "row tight" }, code(event.id), copyButton(event.id, "event id"))],
    ["Accepted", h("span", null, time(event.receivedAt), h("span", { class: "muted small block" }, absoluteTime(event.receivedAt)))],
    ["People concerned", concerned],
  ])),
  h("div", { class: "columns" },
    section({ title: "Recipients", note: "by what decided" }, recipients),
    section({ title: "Its way" }, stages)),
  deviceFilter(page, again),
  section({ title: "Devices", flush: true }, devices));
}
