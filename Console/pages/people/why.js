/**
 * Why?: what would happen to this user by an event, and which level decides.
 */

import { h, fill } from "../../core/dom.js";
import { isAbort } from "../../core/api.js";
import { latest } from "../../core/latest.js";
import { empty, skeleton } from "../../components/empty.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { showMistakes } from "../../components/field.js";
import { composer } from "./composer.js";
import { explanationView } from "./explanation.js";
import { eventChooser } from "./event-chooser.js";

const PAUSE_MS = 300;

/**
 * @param {object} page
 * @param {object} user
 */
export function whyTab(page, user) {
  const result = h("div", { class: "why-result" }, skeleton(6));
  const trouble = h("div");
  const view = explanationView(page, user);
  let isAsked = false;

  const question = latest(async (event, { signal }) => {
    const [{ data }, documents] = await Promise.all([
      page.api.post(page.path("explain"), { userId: user.id, event }, { signal }),
      levelsOf(page, user, event, signal),
    ]);
    fill(trouble);
    view.show(data, event, documents);
    if (!isAsked) fill(result, view.element);
    isAsked = true;
    view.element.classList.remove("stale");
  }, { ms: PAUSE_MS, signal: page.signal, onError: (error) => {
    view.element.classList.add("stale");
    if (!isAsked) fill(result);
    if (!showMistakesQuietly(form.fields, error)) fill(trouble, problem(error, { compact: true, retry: askNow }));
  } });

  const form = composer(page, user, { onChange: (event) => {
    if (event) question.ask(event);
    else askNow();
  } });
  const chooser = eventChooser(page, user, { onChoose: (event) => form.take(event) });

  /** Asks about what the form says, once that is an event. */
  function askNow() {
    if (form.event) return question.now(form.event);
    question.cancel();
    view.element.classList.add("stale");
    if (!isAsked) fill(result, empty({ title: "No channel is chosen", picture: "people",
      text: "They are in no channel that is known here. Name one, or choose a direct notification." }));
  }

  async function begin() {
    try {
      await Promise.all([form.load(), chooser.load()]);
      askNow();
    } catch (error) {
      if (!isAbort(error)) fill(result, problem(error, { retry: begin }));
    }
  }
  begin();

  return h("div", { class: "why" },
    h("div", { class: "why-question" },
      section({ title: "The event" }, chooser.element, form.element, trouble)),
    result);
}

/** The switches of the three levels, for the words of those that did not decide. */
async function levelsOf(page, user, event, signal) {
  const channel = event.data.channel?.id ?? event.data.channelId;
  const read = async (...segments) => (await page.api.get(page.path(...segments), { signal })).data;
  const [network, own, forChannel] = await Promise.all([
    read("notifications"),
    read("users", user.id, "notifications"),
    channel ? read("users", user.id, "channels", channel, "notifications") : null,
  ]);
  return { network, user: own, channel: forChannel };
}

/** Shows mistakes beside their fields without moving the focus of somebody who is writing. */
function showMistakesQuietly(fields, error) {
  const before = document.activeElement;
  const isAllShown = showMistakes(fields, error);
  if (before !== document.activeElement) before?.focus?.({ preventScroll: true });
  return isAllShown;
}
