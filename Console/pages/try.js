/**
 * Try it: post an event and watch what becomes of it, or let this very browser be notified.
 */

import { fill, h } from "../core/dom.js";
import { isAbort } from "../core/api.js";
import { once } from "../core/idempotency.js";
import { announce } from "../components/toast.js";
import { copyButton } from "../components/copy.js";
import { field, form } from "../components/field.js";
import { code } from "../components/name.js";
import { notice } from "../components/notice.js";
import { pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { deviceID, subscribed } from "./try/browser.js";
import { eventForm } from "./try/event-form.js";
import { eventSteps, follow } from "./try/follow.js";
import { notifyThisBrowser, steps } from "./try/notify.js";
import { stepList } from "../components/steps.js";

export const title = "Try it";
export const styles = ["code", "steps", "try"];

/** @param {object} page */
export async function render(page) {
  const { data: webpush } = await page.api.get(page.path("providers", "webpush"), { signal: page.signal });
  return pageView(
    { title, lead: "See Carillon work: in your own browser, or with an event of your own." },
    notice("warn", h("strong", null, "This is real. "),
      "What is posted here is an event like any other: whoever it concerns is notified on their own devices, and names that it " +
        "carries go into the directory."),
    h("div", { class: "try-columns" }, browserSection(page, webpush.subject), eventSection(page)),
  );
}

function browserSection(page, subject) {
  const user = field({ label: "As the user", name: "userId", value: "console", required: true, hint: "The browser becomes a device of theirs; their switches are asked. A new one is added to the directory." });
  const heading = field({ label: "Title", name: "title", value: "Hello from Carillon" });
  const body = field({ label: "Text", name: "body", value: "This browser is a device now." });
  const contact = subject === null && field({ label: "Contact", name: "subject", value: "", placeholder: "mailto:ops@example.org", pointer: "/subject",
    hint: "Who answers for the network’s Web Push (mailto: or https:). Push services want to know; it is kept for the network." });
  const place = h("div", { class: "try-outcome" });

  async function run() {
    const list = stepList(steps);
    fill(place, list.element);
    const what = { userId: user.value, title: heading.value, body: body.value, subject: contact ? contact.value.trim() : subject };
    await notifyThisBrowser(page, list, what);
    if (!page.signal.aborted) announce(list.summary());
  }

  async function forget({ currentTarget: button }) {
    button.disabled = true;
    try {
      const { data: key } = await page.api.get(page.path("providers", "webpush"), { signal: page.signal });
      const subscription = await subscribed(key.publicKey);
      const id = subscription && await deviceID(subscription);
      if (id) {
        // The device first: without its subscription nothing here would know what it is called.
        await page.api.delete(page.path("devices", id), { signal: page.signal }).catch((error) => {
          if (error.status !== 404) throw error;
        });
        await subscription.unsubscribe();
      }
      fill(place, h("p", { role: "status" }, id ? ["Forgotten: ", code(id), "."] : "This browser is not registered with this network."));
    } catch (error) {
      if (!isAbort(error)) fill(place, problem(error, { compact: true }));
    } finally {
      button.disabled = false;
    }
  }

  const others = [h("button", { class: "button quiet", type: "button", on: { click: forget } }, "Forget this browser")];
  return section(
    { title: "Notify this browser", note: "Web Push, from the switches to your screen. No account with anybody is needed." },
    form({ body: [user, heading, body, contact], submit: "Notify this browser", onSubmit: run, others, "aria-label": "Notify this browser" }),
    place,
  );
}

function eventSection(page) {
  const json = h("pre", { class: "code", tabindex: "0", "aria-label": "What is posted" });
  const copy = h("span");
  const place = h("div", { class: "try-outcome" });
  const maker = eventForm({ onChange: preview });
  let following = null;
  const post = once();

  function preview() {
    const text = JSON.stringify(maker.value(), null, 2);
    fill(json, text);
    fill(copy, copyButton(text, "event", { wide: true }));
  }

  async function run() {
    const event = maker.value();
    const { data: receipt } = await post(event, (key) =>
      page.api.post(page.path("events"), { id: `console-${key}`, ...event }, { signal: page.signal }));
    following?.abort();
    following = new AbortController();
    const list = stepList(eventSteps);
    fill(place, list.element);
    // Not waited for: meanwhile another one may be posted.
    follow(page, list, receipt, AbortSignal.any([page.signal, following.signal]));
  }

  maker.build();
  return section(
    { title: "Post an event", note: "One of the three that people are notified of." },
    form({
      body: [maker.element, h("details", { class: "try-json" }, h("summary", null, "What is posted, as JSON"), json, copy)],
      submit: "Post the event",
      onSubmit: run,
      "aria-label": "Post an event",
    }),
    place,
  );
}
