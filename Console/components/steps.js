/**
 * Steps that are gone through one after the other, each with a state, words, and a time.
 */

import { duration } from "../core/format.js";
import { fill, h } from "../core/dom.js";

const WORDS = { waiting: "to come", running: "under way", done: "done", failed: "failed" };

/**
 * One step.
 * @param {{state?: keyof typeof WORDS, label: Node|string|Array, time?: Node|string|Array, detail?: Node|string|Array, key?: string}} what
 */
export function step({ state, label, time, detail, key }) {
  return h("li", { class: "step", dataset: { step: key, state } },
    h("span", { class: "step-mark", "aria-hidden": "true" }),
    h("div", { class: "step-text" },
      h("div", { class: "step-head" }, h("span", { class: "step-name" }, label),
        h("span", { class: ["step-state", "visually-hidden"] }, state && ` (${WORDS[state]})`), h("span", { class: "step-time" }, time)),
      h("div", { class: "step-detail" }, detail)));
}

/**
 * Steps that are gone through here and now.
 * @param {Array<[string, string]>} labels keys and names, in order
 * @returns {{element: Element, start: Function, note: Function, done: Function, fail: Function, current: () => string, summary: () => string}}
 */
export function stepList(labels) {
  const steps = new Map();
  const element = h("ol", { class: "steps" });
  for (const [key, label] of labels) {
    const item = step({ label, key });
    const [state, time, detail] = [".step-state", ".step-time", ".step-detail"].map((part) => item.querySelector(part));
    steps.set(key, { item, state, time, detail, startedAt: null });
    element.append(item);
  }

  function become(key, next, what) {
    const one = steps.get(key);
    if (next === "running") one.startedAt = performance.now();
    if (next !== "running" && one.startedAt !== null) fill(one.time, duration(performance.now() - one.startedAt));
    one.item.dataset.state = next;
    fill(one.state, ` (${WORDS[next]})`);
    if (what.length > 0 || next === "running") fill(one.detail, what);
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
