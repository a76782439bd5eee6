/**
 * What a template makes of a sample, asked of the service while somebody writes.
 */

import { h, fill } from "../../core/dom.js";
import { ApiError } from "../../core/api.js";
import { latest } from "../../core/latest.js";
import { field } from "../../components/field.js";
import { notificationFrames } from "../../components/notification.js";
import { problem } from "../../components/problem.js";
import { KINDS, SAMPLES, sampleEvent, variantName } from "./events.js";

const PAUSE_MS = 200;

/**
 * @param {object} page
 * @param {{type: string, locale: string, onMistakes: (error: ApiError|null) => void}} what
 */
export function previewPane(page, { type, locale, onMistakes }) {
  const kinds = KINDS[type];
  const frames = notificationFrames();
  const trouble = h("div", { class: "preview-trouble", "aria-live": "polite" });
  let texts = null;

  const choose = (label, name, options) => field({ label, name, type: "select", options, value: options[0].value,
    onInput: () => again(0) });
  const sample = choose("Sample", "sample", SAMPLES.map(({ id, name }) => ({ value: id, label: name })));
  const selects = Object.fromEntries(["title", "body"].filter((part) => kinds[part].variants.length > 0).map((part) =>
    [part, choose({ title: "Where", body: "Case" }[part], part,
      kinds[part].variants.map((variant) => ({ value: variant, label: variantName(variant) })))]));

  const question = latest(async (template, { signal }) => {
    const event = sampleEvent(type, SAMPLES.find(({ id }) => id === sample.value),
      { title: selects.title?.value, body: selects.body?.value });
    const { data } = await page.api.post(page.path("templates", "preview"), { type, locale, template, event }, { signal });
    frames.show(data);
    frames.setStale(false);
    fill(trouble);
    onMistakes(null);
  }, { ms: PAUSE_MS, signal: page.signal, onError: (error) => {
    frames.setStale(true);
    const isMistake = error instanceof ApiError && error.status === 400;
    onMistakes(isMistake ? error : null);
    fill(trouble, isMistake ? h("p", { class: "field-error" },
      "The preview shows the template as it was before the mistake.") : problem(error, { compact: true, retry: () => again(0) }));
  } });

  function again(ms) {
    if (texts === null) return;
    if (ms === 0) question.now(texts);
    else question.ask(texts);
  }

  let isFirst = true;
  return {
    element: h("div", null, trouble, frames.element),
    controls: [h("div", { class: "preview-controls" }, sample, Object.values(selects))],
    ask(template) {
      texts = template;
      again(isFirst ? 0 : PAUSE_MS);
      isFirst = false;
    },
    setVariant(part, variant) {
      if (!selects[part] || selects[part].value === variant) return;
      selects[part].value = variant;
      again(0);
    },
  };
}
