/**
 * Web Push: whom it is signed for, and the key that browsers subscribe with.
 */

import { h, fill } from "../../core/dom.js";
import { isAbort } from "../../core/api.js";
import { copyButton } from "../../components/copy.js";
import { confirm, openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { skeleton } from "../../components/empty.js";
import { name } from "../../components/name.js";
import { facts, section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";

/**
 * @param {object} page
 * @param {{changed: () => void}} options
 */
export function webPushSection(page, { changed }) {
  let current = null;
  const path = page.path("providers", "webpush");
  const place = h("div", null, skeleton(3));

  function show() {
    fill(place,
      facts([
        ["Subject", current.subject ? name(current.subject) : h("strong", null, "Not set: nothing is sent before it is.")],
        ["Public key", h("span", { class: "key-line" }, h("code", { class: "id break" }, current.publicKey),
          copyButton(current.publicKey, "public key"))],
        ["Changed", time(current.updatedAt)],
      ]),
      h("div", { class: "form-buttons" },
        h("button", { class: "button small", type: "button", on: { click: edit } },
          current.subject ? "Change the subject" : "Set the subject"),
        h("button", { class: "button small danger quiet", type: "button", on: { click: remove } }, "Remove the key pair")));
  }

  /** A key pair that cannot be read can still be removed. */
  async function load() {
    try {
      ({ data: current } = await page.api.get(path, { signal: page.signal }));
      show();
    } catch (error) {
      if (isAbort(error)) return;
      fill(place, problem(error, { compact: true, retry: load }),
        h("div", { class: "form-buttons" },
          h("button", { class: "button small danger quiet", type: "button", on: { click: remove } }, "Remove the key pair")));
    }
  }

  async function put(subject) {
    ({ data: current } = await page.api.put(path, { subject }));
    show();
    changed();
  }

  function edit() {
    const subject = field({ label: "Subject", name: "subject", value: current?.subject ?? "", placeholder: "mailto:ops@example.com",
      required: true,
      hint: "A mailto: or https: address of who answers for the messages. Push services write there when something is wrong." });
    return openDialog({
      title: "Whom Web Push is signed for",
      body: h("div", { class: "form" }, subject, h("p", { class: "muted" }, "The key pair stays. What waits is sent at once.")),
      actions: [
        { label: "Cancel", kind: "quiet" },
        { label: "Save", kind: "primary", run: async () => {
          try {
            await put(subject.value.trim());
            toast("Web Push is signed for the new subject.", { kind: "good" });
            return true;
          } catch (error) {
            if (showMistakes([subject], error)) return false;
            throw error;
          }
        } },
      ],
    });
  }

  /** The same subject once more changes nothing, but what waits is tried at once. */
  async function retry() {
    if (!current?.subject) return edit();
    try {
      await put(current.subject);
      toast("What waits is being tried.", { kind: "good" });
    } catch (error) {
      toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
    }
  }

  async function remove() {
    const isSure = await confirm({
      title: "Remove the Web Push key pair?",
      text: h("div", { class: "stack" },
        h("p", null, "A subscription belongs to the key that it was made with, for good. ",
          h("strong", null, "Every browser stays silent until it subscribes again"),
          " with the next key pair, which is made at once."),
        h("p", null, "What waits to be sent stays until it expires.")),
      act: "Remove for good",
      danger: true,
    });
    if (!isSure) return;
    try {
      await page.api.delete(path);
      await load();
      changed();
      toast("The key pair is removed. Browsers have to subscribe with the new one.", { kind: "good" });
    } catch (error) {
      toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
    }
  }

  load();
  const element = section({ title: "Web Push", note: "For browsers. Carillon makes the key pair itself." }, place);
  return { element, edit, retry };
}
