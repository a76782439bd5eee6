/**
 * The overview: what came in, what went out, and what needs attention.
 */

import { now } from "../core/connection.js";
import { h, fill, refill } from "../core/dom.js";
import { count, duration, eventTypeName, number, providerName } from "../core/format.js";
import { OUTCOMES } from "../core/outcomes.js";
import { keysOf, readStats, spans, sumOf, valuesOf } from "../core/stats.js";
import { wait } from "../core/wait.js";
import { liveBadge } from "../components/live-badge.js";
import { pageView, section } from "../components/page.js";
import { problem } from "../components/problem.js";
import { skeleton } from "../components/empty.js";
import { segmented } from "../components/segmented.js";
import { icon } from "../components/icon.js";
import { lookAround, troubleList } from "./overview/attention.js";
import { figures } from "./overview/figures.js";
import { stateInWords } from "./overview/state.js";

export const title = "Overview";
export const styles = ["overview", "steps"];

const STATS_MS = 10_000;
const TROUBLE_MS = 15_000;
const PATIENCE_MS = 1500;
/** For so long what is still to be done stands above the figures. */
const NEW_FOR_MS = 7 * 86_400_000;

const FAILURES = ["unregistered", "expired", "dead"];

export function render(page) {
  let span = spans[page.query.span] ?? spans.hour;
  const tiles = h("div", { class: "tiles" });
  const trouble = h("div", null, skeleton(1));
  const state = h("span", { class: "state-line" }, "Looking at it…");
  const beginning = h("div");
  const cards = makeCards();
  const place = h("div", { class: "overview-figures" }, skeleton(8));
  let waiting = null;
  let stats = null;
  let newest;
  let network = null;
  let knowTrouble = null;
  // What needs attention stands above the figures: they come after it, so that it does not push them down.
  const troubleKnown = new Promise((resolve) => {
    knowTrouble = resolve;
  });

  async function look() {
    const asked = span;
    const [read] = await Promise.all([readStats(page, asked), stats ?? Promise.race([troubleKnown, wait(PATIENCE_MS, page.signal)])]);
    if (asked !== span) return;
    stats = read;
    showTiles();
    if (cards[0].parentNode !== place) fill(place, cards);
    for (const card of cards) card.update(stats);
  }

  function showTiles() {
    if (!stats) return;
    // Where nothing was ever posted there is nothing to draw: the first steps say what is to be done.
    tiles.hidden = place.hidden = newest === null && keysOf(stats.points, "events").length === 0;
    refill(tiles, makeTiles(page, stats, waiting));
  }

  const watch = page.live(look, STATS_MS, { onError: (error) => {
    if (stats && error.isPassing) return;
    tiles.hidden = !stats;
    fill(place, problem(error, { retry: () => page.navigate(location.pathname + location.search) }));
  } });

  page.live(async () => {
    const looked = await lookAround(page);
    const found = looked.trouble;
    waiting = looked.oldest;
    newest = looked.newest;
    refill(state, stateInWords(looked));
    refill(trouble, found.length > 0 ? troubleList(found)
      : h("p", { class: "all-well" }, icon("check"), "Nothing needs attention."));
    showTiles();
    knowTrouble();
    await showBeginning();
  }, TROUBLE_MS, { onError: (error) => {
    knowTrouble();
    if (!error.isPassing) fill(trouble, problem(error, { compact: true }));
  } });

  /** The first steps, in the first week of a network and as long as nothing was posted. */
  async function showBeginning() {
    network ??= (await page.api.get(page.path(), { signal: page.signal })).data;
    if (newest !== null && now() - Date.parse(network.createdAt) > NEW_FOR_MS) return;
    const module = await import("./overview/first-steps.js").catch(() => null);
    if (!module) return;
    const { element, isDone } = await module.firstSteps(page);
    if (isDone) return fill(beginning);
    if (beginning.childElementCount === 0) fill(beginning, section({ title: "First steps", note: "Ticked when they are done." }, h("div")));
    refill(beginning.querySelector(".card-body"), element);
  }

  const choice = segmented({ label: "Time", value: span.value, options: Object.values(spans), onChange: (value) => {
    span = spans[value];
    page.setQuery({ span: value === "hour" ? null : value });
    watch.now();
  } });
  return pageView({ title: "Overview", lead: state, actions: [liveBadge(watch), choice] },
    section({ title: "Attention", class: "attention" }, trouble), beginning, tiles, place);
}

function makeTiles(page, { points, span }, waiting) {
  const events = (key) => sumOf(points, (point) => Object.values(point.events ?? {}).reduce((all, each) => all + (each[key] ?? 0), 0));
  const deliveries = (keys) => sumOf(points, (point) => Object.values(point.deliveries ?? {})
    .reduce((all, each) => all + keys.reduce((some, key) => some + (each[key] ?? 0), 0), 0));
  const suppressed = sumOf(points, (point) => Object.values(point.recipients?.suppressed ?? {}).reduce((all, each) => all + each, 0));
  const duplicates = events("duplicate");
  const failed = deliveries(FAILURES);
  return [
    tile("Events accepted", number(events("accepted")), events("accepted") === 0 ? h("a", { href: page.href("try") }, "Post one to try it")
      : duplicates > 0 ? count(duplicates, "duplicate") : span.words),
    tile("People notified", number(sumOf(points, (point) => point.recipients?.notified)), span.words),
    tile("Suppressed", number(suppressed), "by a switch or an endpoint"),
    tile("Delivered", number(deliveries(["delivered"])), count(deliveries(["retries"]), "retry", "retries")),
    tile("Failed", number(failed), "unregistered, expired or given up", failed > 0 && "bad"),
    tile("Oldest not done", waiting?.words ?? "–", waiting?.event
      ? h("a", { href: page.href("events", waiting.event.id) }, "Open it") : "no event waits", waiting?.age >= 60_000 && "bad"),
  ];
}

function tile(label, value, note, kind) {
  return h("div", { class: ["tile", kind] }, h("div", { class: "tile-label" }, label), h("div", { class: "tile-value" }, value),
    h("div", { class: "tile-note" }, note));
}

function makeCards() {
  return [
    figures({ title: "Accepted events", note: "by type", columns: ["Accepted", "Duplicate"], nothing: "No event was posted.",
      rows: ({ points }) => keysOf(points, "events").map((type, index) => ({ name: eventTypeName(type), cells: [
        { values: valuesOf(points, (point) => point.events?.[type]?.accepted), tone: index % 5 + 1 },
        { values: valuesOf(points, (point) => point.events?.[type]?.duplicate) },
      ] })) }),
    figures({ title: "Recipients", note: "notified, or suppressed by level", columns: ["People"], nothing: "No event concerned anybody.",
      rows: ({ points }) => OUTCOMES.map(({ label, tone, pick }) => ({ name: label, cells: [
        { values: valuesOf(points, (point) => pick(point.recipients ?? {})), tone },
      ] })) }),
    figures({ title: "Deliveries", note: "by provider: delivered above the line, failed below it", wide: true,
      columns: ["Delivered", "Unregistered", "Expired", "Given up", "Retries"], nothing: "Nothing was sent to a device.",
      rows: ({ points }) => keysOf(points, "deliveries").map((provider, index) => ({ name: providerName(provider), cells: [
        { values: valuesOf(points, (point) => point.deliveries?.[provider]?.delivered), tone: index % 5 + 1 },
        ...FAILURES.map((key) => ({ values: valuesOf(points, (point) => point.deliveries?.[provider]?.[key]), tone: "bad", down: true })),
        { values: valuesOf(points, (point) => point.deliveries?.[provider]?.retries) },
      ] })) }),
    figures({ title: "Latency", note: "from the 202 to the first hand-over to a provider", columns: ["Lowest – highest"], lines: true, wide: true,
      format: duration, total: range, nothing: "Nothing was handed to a provider.",
      rows: ({ points }) => [["Half of them (p50)", "p50", 1], ["99 of 100 (p99)", "p99", 3]].map(([name, key, tone]) => ({ name, cells: [
        { values: points.map((point) => point?.latency?.[key] ?? null), tone },
      ] })) }),
  ];
}

function range(values) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "–";
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return low === high ? duration(low) : `${duration(low)} – ${duration(high)}`;
}
