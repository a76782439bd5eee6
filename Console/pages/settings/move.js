/**
 * How far a network's move to another placement is.
 */

import { fill, h, reconcile } from "../../core/dom.js";
import { count, duration } from "../../core/format.js";
import { size } from "../../core/placements.js";
import { badge } from "../../components/badge.js";
import { code, name } from "../../components/name.js";
import { notice } from "../../components/notice.js";
import { facts } from "../../components/page.js";
import { step } from "../../components/steps.js";
import { time } from "../../components/time.js";
import { announce } from "../../components/toast.js";

const UNDER_WAY = ["draining", "fenced", "copying", "switching"];
const STEPS = {
  draining: ["Draining", () => "Nothing new is accepted; what push services have in hand is finished."],
  fenced: ["Fenced", ({ to }) => `Nobody changes anything of it any more; its place is made in ${to}.`],
  copying: ["Copying", () => "All of it, table by table; then both are counted."],
  switching: ["Switching", () => "From here on only another move leads back."],
  purging: ["Purging", ({ from }) => `Everything goes on. What is left in ${from} is removed after some minutes.`],
};
const ENDS = { done: ["Done", "good"], cancelled: ["Cancelled", "warn"] };

/** Whether nothing can be changed in the network. */
export const isUnderWay = (move) => UNDER_WAY.includes(move.step);
/** Whether the network is where it was to go. */
export const isThere = (move) => move.step === "purging" || move.step === "done";

/**
 * @param {{onCancel: () => Promise<void>}} what
 * @returns {{element: Element, show: (move: object|null, how: {isCalledBack: boolean}) => void, focus: () => void}}
 */
export function moveView({ onCancel }) {
  const heading = h("h3", { tabindex: "-1" });
  const state = h("span");
  const remark = h("div");
  const steps = h("ol", { class: "steps", "aria-label": "Steps of the move" });
  const figures = h("div");
  const cancel = h("button", { class: "button", type: "button", on: { click: onCancel } }, "Cancel the move");
  const element = h("div", { class: "stack", hidden: true, role: "group", "aria-label": "Move" },
    h("div", { class: "row" }, heading, state), remark, steps, figures, cancel);
  let shown;

  return {
    element,
    show(move, { isCalledBack }) {
      element.hidden = move === null;
      if (!move) return;
      const moves = isUnderWay(move);
      const [label, kind] = ENDS[move.step] ?? [STEPS[move.step]?.[0] ?? move.step, moves ? "info" : "good"];
      const title = moves ? "On its way" : isThere(move) ? "Moved" : "Not moved";
      if (shown !== `${move.startedAt} ${move.step}`) {
        fill(heading, `${title} from ${move.from} to ${move.to}`);
        fill(state, badge(label, kind));
        // Not what was so when the page was opened.
        if (shown && moves) announce(label);
      }
      shown = `${move.startedAt} ${move.step}`;
      const words = remarkOn(move, isCalledBack);
      remark.hidden = words === null;
      if (words && words.textContent !== remark.textContent) fill(remark, words);
      steps.hidden = move.step in ENDS;
      reconcile(steps, stepsOf(move), { key: (each) => each.key, make: step });
      fill(figures, facts([
        ["Begun", time(move.startedAt)],
        ["Copied", `${count(move.rows, "row")}, ${size(move.bytes)}`],
        ["Frozen for", duration(move.frozenMs)],
      ]));
      const hadFocus = document.activeElement === cancel;
      cancel.hidden = !moves || move.step === "switching" || isCalledBack;
      if (hadFocus && cancel.hidden) heading.focus();
    },
    focus: () => heading.focus(),
  };
}

function remarkOn({ step: at, from, reason }, isCalledBack) {
  if (at === "cancelled") {
    return reason ? notice("warn", "It stays in ", code(from), ": ", name(reason, { longest: 300 }))
      : h("p", null, "It was cancelled: everything goes on in ", code(from), ".");
  }
  if (isCalledBack && UNDER_WAY.includes(at)) return h("p", null, "It is called back, and goes on in ", code(from), " in a moment.");
  return reason && UNDER_WAY.includes(at) ? notice("warn", "It does not go on now, and is tried again: ", name(reason, { longest: 300 })) : null;
}

function stepsOf(move) {
  const keys = Object.keys(STEPS);
  const at = keys.indexOf(move.step);
  return keys.map((key, index) => {
    const [label, detail] = STEPS[key];
    const isNow = index === at;
    return { key, label, state: index < at ? "done" : isNow ? "running" : "waiting", detail: isNow ? detail(move) : "" };
  });
}
