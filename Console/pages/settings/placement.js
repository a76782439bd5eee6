/**
 * Where a network is kept, and its way to another placement: begun, followed and called back by whoever runs the service.
 */

import { fill, h } from "../../core/dom.js";
import { count } from "../../core/format.js";
import { readPlacements } from "../../core/placements.js";
import { addressOf } from "../../core/router.js";
import { attempt } from "../../components/attempt.js";
import { openDialog } from "../../components/dialog.js";
import { field, showMistakes } from "../../components/field.js";
import { code } from "../../components/name.js";
import { facts, section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { toast } from "../../components/toast.js";
import { isThere, isUnderWay, moveView } from "./move.js";

const LOOK_EVERY_MS = 1000;
/** Nobody waits for what is left in the former placement. */
const LOOK_LATER_MS = 15_000;

/** Nothing with one placement: networks do not say then where they are. */
export function placementSection(page, network) {
  if (!network.placement) return null;
  return section({ title: "Placement", note: "The database or schema that all of this network is kept in." },
    page.role === "operator" ? moving(page, network) : keptIn(code(network.placement)));
}

const keptIn = (content) => facts([["Kept in", content]]);

/** What the operator sees of where a network is, and of its last move. */
function moving(page, network) {
  const path = page.path("move");
  const place = h("div");
  const trouble = h("div");
  const view = moveView({ onCancel: callBack });
  const button = h("button", { class: "button", type: "button", on: { click: ask } }, "Move to another placement…");
  let placement;
  let last = null;
  /** When the move began that was called back here. */
  let calledBack = null;
  let newest = null;
  let watch = null;
  let pace = null;

  function showPlacement(name) {
    placement = name;
    fill(place, keptIn(h("a", { href: addressOf("placements") }, code(name))));
  }

  /** Looks from now on this often; with `null` no more. */
  function follow(ms) {
    if (ms === pace) return;
    pace = ms;
    watch?.stop();
    watch = ms && page.live(look, ms, { onError: (error) => {
      fill(trouble, problem(error, { compact: true, retry: error.isPassing ? undefined : () => watch.now() }));
    } });
  }

  /** What is shown is not how it is. */
  function lookAgain() {
    follow(null);
    follow(LOOK_EVERY_MS);
  }

  async function read(from) {
    return (await page.api.get(from, { signal: page.signal })).data;
  }

  async function look() {
    const asked = Symbol("look");
    newest = asked;
    const move = await read(path).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    });
    if (asked !== newest) return;
    fill(trouble);
    show(move);
    // It may have gone there since its settings were read.
    if (move && !isUnderWay(move) && placement !== (isThere(move) ? move.to : move.from)) {
      const { placement: name } = await read(page.path());
      if (asked !== newest) return;
      showPlacement(name ?? placement);
    }
    followAsOf(move);
  }

  /** Not before all is known that goes with it: a look that fails is tried again. */
  function followAsOf(move) {
    follow(move && isUnderWay(move) ? LOOK_EVERY_MS : move?.step === "purging" ? LOOK_LATER_MS : null);
  }

  /** @param {object|null} move as the API says it; null where the network never moved */
  function show(move) {
    const former = last;
    last = move;
    const moves = move !== null && isUnderWay(move);
    const hadFocus = document.activeElement === button;
    button.hidden = moves;
    view.show(move, { isCalledBack: move !== null && move.startedAt === calledBack });
    if (hadFocus && moves) view.focus();
    if (!former || !isUnderWay(former) || former.startedAt !== move?.startedAt || moves) return;
    if (isThere(move)) {
      showPlacement(move.to);
      toast(`The network is in ${move.to} now.`, { kind: "good" });
    } else {
      toast(`The network stays in ${move.from}.`, { kind: move.reason ? "bad" : "info" });
    }
  }

  /** Shows what something done was answered with: what was asked for before is older. */
  function take(move) {
    newest = null;
    show(move);
    followAsOf(move);
  }

  async function ask() {
    const others = await attempt(async () => (await readPlacements({ signal: page.signal })).filter(({ name }) => name !== placement));
    if (!others) return;
    const to = field({ label: "Move it to", name: "to", type: "select", value: others.length === 1 ? others[0].name : "",
      options: [others.length !== 1 && { value: "", label: "Choose a placement" }, ...others.map(option)].filter(Boolean) });
    const answer = await openDialog({
      title: "Move this network?",
      body: [
        h("p", null, "The network ", code(page.network, { longest: 256 }), " is kept in ", code(placement), "."),
        h("p", null, h("strong", null, "Until it is there, nothing can be changed in it, and events are refused with 503"),
          ": mostly for some seconds, longer where there is much of it. Whoever posts again loses nothing, and nothing is sent twice. "
          + "Then everything goes on there."),
        h("p", null, "It can be called back until it is switched over."),
        h("form", { class: "fields", novalidate: true }, to),
      ],
      actions: [{ label: "Cancel", kind: "quiet" }, { label: "Move it", kind: "danger", run: () => begin(to) }],
    });
    if (!answer) return;
    if (answer.status !== 200) return take(answer.data);
    // Somebody else has moved it meanwhile.
    showPlacement(answer.data.to);
    toast(`The network is in ${answer.data.to} already.`);
    lookAgain();
  }

  async function begin(to) {
    if (!to.value) {
      to.setError("This is needed.");
      to.input.focus();
      return false;
    }
    try {
      return await page.api.post(path, { to: to.value }, { signal: page.signal });
    } catch (error) {
      if (error.status === 409) lookAgain();
      if (showMistakes([to], error)) return false;
      throw error;
    }
  }

  async function callBack() {
    const { startedAt } = last;
    await attempt(async () => {
      try {
        const { data } = await page.api.delete(path, { signal: page.signal });
        calledBack = startedAt;
        take(data);
      } catch (error) {
        if (error.status === 404 || error.status === 409) lookAgain();
        throw error;
      }
    });
  }

  showPlacement(network.placement);
  follow(LOOK_EVERY_MS);
  return h("div", { class: "stack" }, h("div", null, place, trouble), view.element, button);
}

function option({ name, ready, state, networks }) {
  const words = [state !== "open" && state, ready ? count(networks, "network") : "cannot be used now"].filter(Boolean);
  return { value: name, label: `${name} (${words.join(", ")})` };
}
