/**
 * Says whether what is shown follows the service, and lets people hold it.
 */

import { h, fill } from "../core/dom.js";
import { icon } from "./icon.js";

const WORDS = { live: "Live", paused: "Paused", hidden: "Resting", retrying: "Trying again", stopped: "Stopped" };

/** @param {ReturnType<import("../core/live.js").live>} watch */
export function liveBadge(watch) {
  const button = h("button", { class: "live-badge", type: "button", on: { click: () => {
    if (watch.state === "paused") watch.resume();
    else watch.pause();
  } } });
  watch.onState((state) => {
    button.dataset.state = state;
    button.disabled = state === "stopped";
    button.setAttribute("aria-pressed", String(state === "paused"));
    button.title = state === "paused" ? "Follow again" : "Hold what is shown";
    fill(button, state === "paused" ? icon("pause") : h("span", { class: "live-dot" }),
      h("span", { class: "visually-hidden" }, "Hold: "), WORDS[state]);
  });
  return button;
}
