/**
 * The lanes: what goes to one app or one host through one provider, and the button that helps where something is held up.
 */

import { h } from "../../core/dom.js";
import { absoluteTime, lacksCredential, laneState, providerName } from "../../core/format.js";
import { badge, stateBadge } from "../../components/badge.js";
import { confirm } from "../../components/dialog.js";
import { name } from "../../components/name.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { isOfTheWay, reasonView } from "../../components/reason.js";
import { table } from "../../components/table.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";
import { openRestore } from "./restore.js";

/** What a lane goes to, in words. */
function laneTarget({ appId, host }) {
  return appId ?? host ?? null;
}

/**
 * What can be done for a lane, the most helpful first.
 * @param {object} lane as `GET /providers` shows it
 * @returns {Array<"add"|"replace"|"subject"|"try"|"release"|"restore">}
 */
function remedies({ provider, circuit, reason, brake, appId }) {
  const acts = [];
  const isOpen = circuit === "open";
  const lacks = isOpen && lacksCredential(reason);
  if (provider === "webpush" && lacks) acts.push("subject");
  else if (provider === "webpush" && isOpen && !brake) acts.push("try");
  else if (appId && lacks) acts.push("add");
  else if (appId && ((isOpen && !isOfTheWay(reason)) || brake)) acts.push("replace");
  if (brake) acts.push("release", "restore");
  return acts;
}

/**
 * @param {object} page
 * @param {{replaceCredential: (lane) => void, setSubject: () => void, tryWebPush: () => Promise<void>, changed: () => void}} acts
 */
export function lanesSection(page, { replaceCredential, setSubject, tryWebPush, changed }) {
  const labels = {
    add: ["Add credential", (lane) => replaceCredential(lane)],
    replace: ["Replace credential", (lane) => replaceCredential(lane)],
    subject: ["Set the subject", () => setSubject()],
    try: ["Try again now", () => tryWebPush()],
    release: ["Release the brake", (lane) => release(page, lane, changed)],
    restore: ["Restore devices", (lane) => openRestore(page, lane)],
  };

  function buttons(lane) {
    return h("div", { class: "row-actions" }, remedies(lane).map((remedy, index) => {
      const [label, run] = labels[remedy];
      return h("button", { class: ["button", "small", index === 0 && "primary"], type: "button", on: { click: () => run(lane) } }, label);
    }));
  }

  const rows = table({
    caption: "Lanes",
    rowKey: ({ provider, appId, host }) => JSON.stringify([provider, appId, host]),
    columns: [
      { title: "Provider", cell: ({ provider }) => h("span", { class: "provider-name" }, providerName(provider)) },
      { title: "App or host", cell: (lane) => name(laneTarget(lane), { fallback: "all" }) },
      { title: "State", cell: states },
      { title: "Since", cell: ({ since, brake }) => time(brake?.since ?? since) },
      { title: "Why", wide: true, cell: why },
      { title: "What helps", hideTitle: true, cell: buttons },
    ],
  });
  const element = section({
    title: "Lanes",
    note: "What waits in a paused lane is kept, and costs no attempt.",
    flush: true,
    actions: [h("button", { class: "button small", type: "button", on: { click: () => openRestore(page) } }, "Restore devices…")],
  }, rows);
  return { element, show: rows.setRows };
}

function states(lane) {
  return h("span", { class: "badges" }, stateBadge(laneState(lane)), lane.brake && badge("Brake on", "warn"));
}

function why({ provider, circuit, reason, brake }) {
  const said = [brake?.reason, circuit === "open" && reason !== brake?.reason ? reason : null].filter(Boolean);
  if (said.length > 0) {
    const isUpToThem = circuit === "open" && (provider === "webhook" ? !lacksCredential(reason) : isOfTheWay(reason));
    return h("div", null, said.map((text) => reasonView(text, { longest: 300 })),
      isUpToThem && h("div", { class: "muted small" }, "It is tried again by itself until that is over."));
  }
  return h("span", { class: "muted" }, "Nothing holds it up.");
}

async function release(page, lane, changed) {
  const target = laneTarget(lane);
  const isSure = await confirm({
    title: "Release the brake?",
    text: h("div", { class: "stack" },
      h("p", null, "For an hour every report that a device of ", name(target), " is gone is believed, however many they are, ",
        "and those devices are unregistered."),
      h("p", null, "Do this when the devices are really gone, as after an app was withdrawn. When the credential is wrong, replace it instead.")),
    act: "Release for an hour",
    danger: true,
  });
  if (!isSure) return;
  try {
    const { data } = lane.provider === "webpush"
      ? await page.api.post(page.path("providers", "webpush", "release"), { host: lane.host })
      : await page.api.post(page.path("providers", lane.provider, "apps", lane.appId, "release"), {});
    toast(`The brake is released until ${absoluteTime(data.until)}.`, { kind: "good" });
    changed();
  } catch (error) {
    toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
  }
}
