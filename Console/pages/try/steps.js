/**
 * A list of steps that are gone through one after the other, each with a state, words, and the time that it took.
 */

import { duration } from "../../core/format.js";
import { fill, h } from "../../core/dom.js";

const WORDS = { waiting: "to come", running: "under way", done: "done", failed: "failed" };

/**
 * @param {Array<[string, string]>} labels keys and names, in order
 * @returns {{element: Element, start: Function, note: Function, done: Function, fail: Function, current: () => string, summary: () => string}}
 */
export function stepList(labels) {
  const steps = new Map();
  const element = h("ol", { class: "steps" });
  for (const [key, label] of labels) {
    const state = h("span", { class: "visually-hidden" });
    const time = h("span", { class: "step-time" });
    const detail = h("div", { class: "step-detail" });
    const item = h(
      "li",
      { class: "step", dataset: { step: key } },
      h("span", { class: "step-mark", "aria-hidden": "true" }),
      h("div", { class: "step-text" }, h("div", { class: "step-head" }, h("span", { class: "step-name" }, label), state, time), detail),
    );
    steps.set(key, { item, state, time, detail, startedAt: null });
    element.append(item);
  }

  function become(key, next, what) {
    const step = steps.get(key);
    if (next === "running") step.startedAt = performance.now();
    if (next !== "running" && step.startedAt !== null) fill(step.time, duration(performance.now() - step.startedAt));
    step.item.dataset.state = next;
    fill(step.state, ` (${WORDS[next]})`);
    if (what.length > 0 || next === "running") fill(step.detail, what);
  }

  for (const key of steps.keys()) become(key, "waiting", []);
  const current = () => [...steps.keys()].findLast((key) => steps.get(key).item.dataset.state !== "waiting");
  return {
    element,
    start: (key, ...what) => become(key, "running", what),
    /** Says more about a step without ending it. */
    note: (key, ...what) => fill(steps.get(key).detail, what),
    done: (key, ...what) => become(key, "done", what),
    fail: (key, ...what) => become(key, "failed", what),
    /** The last step that was begun. */
    current,
    /** Where it ended, in words. */
    summary() {
      const last = labels.find(([key]) => key === current());
      return last ? `${last[1]}: ${WORDS[steps.get(last[0]).item.dataset.state]}` : "";
    },
  };
}
