/**
 * What a notification looks like where it arrives: on an iPhone, on an Android phone, and from a browser.
 */

import { h, fill } from "../core/dom.js";
import { count } from "../core/format.js";
import { bell } from "./icon.js";

const RIGHT_TO_LEFT = /^(ar|arc|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/i;
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** How many characters people see in a text. */
function lengthOf(text) {
  let length = 0;
  for (const _ of segmenter.segment(text)) length += 1;
  return length;
}

/**
 * Three frames that show one notification at a time.
 * @param {{app?: string, waiting?: string}} [options] `app` is what the app is called
 * @returns {{element: HTMLElement, show: (notification: {title: string, body: string, locale: string}) => void,
 *   clear: (words: string) => void, setStale: (isStale: boolean) => void}}
 */
export function notificationFrames({ app = "Your app", waiting = "…" } = {}) {
  const places = [
    frame("iphone", "iPhone", [h("p", { class: "frame-clock", "aria-hidden": "true" }, "9:41")]),
    frame("android", "Android", [h("p", { class: "frame-clock", "aria-hidden": "true" }, "10:08")]),
    frame("browser", "Browser", []),
  ];
  const facts = h("p", { class: "muted small frame-facts" });
  const element = h("div", { class: "frames" }, h("div", { class: "frames-row" }, places.map((place) => place.element)), facts);
  clear(waiting);

  function clear(words) {
    for (const place of places) place.fill(h("p", { class: "frame-empty" }, words));
    fill(facts);
  }

  function show({ title, body, locale }) {
    const [iphone, android, browser] = places;
    iphone.fill(note(locale, badge(), words({ title, body, locale, app: null, isWhenBeside: true })));
    android.fill(note(locale, badge(), words({ title, body, locale, app })));
    browser.fill(note(locale, badge(), words({ title, body, locale, host: "chat.example.com" })));
    fill(facts, `Title: ${count(lengthOf(title), "character")} · text: ${count(lengthOf(body), "character")} · language: `,
      h("code", null, locale));
  }

  return { element, show, clear, setStale: (isStale) => element.classList.toggle("stale", isStale) };
}

function frame(kind, name, above) {
  const place = h("div", { class: "frame-note" });
  const element = h("figure", { class: ["device-frame", kind] }, h("div", { class: "frame-screen" }, above, place),
    h("figcaption", null, name));
  return { element, fill: (...children) => fill(place, ...children) };
}

function badge() {
  return h("span", { class: "note-icon", "aria-hidden": "true" }, bell());
}

function note(locale, ...children) {
  return h("div", { class: "note", dir: RIGHT_TO_LEFT.test(locale) ? "rtl" : "ltr" }, ...children);
}

function words({ title, body, locale, app, host, isWhenBeside = false }) {
  const text = (value, className) => h("p", { class: className, dir: "auto", lang: locale }, value);
  return h("div", { class: "note-words" },
    app && h("p", { class: "note-app" }, app, " · now"),
    h("div", { class: "note-head" }, text(title, "note-title"), isWhenBeside && h("span", { class: "note-when" }, "now")),
    host && h("p", { class: "note-host" }, host),
    text(body, "note-body"));
}
