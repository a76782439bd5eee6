/**
 * What somebody should look at, as far as the API can tell.
 */

import { ApiError, isAbort } from "../../core/api.js";
import { now } from "../../core/connection.js";
import { h } from "../../core/dom.js";
import { count, duration, lacksCredential, laneState, providerName } from "../../core/format.js";
import { readStats, spans, sumOf } from "../../core/stats.js";
import { name } from "../../components/name.js";
import { time } from "../../components/time.js";

const MOST_CERTIFICATES = 20;
const CERTIFICATE_MS = 600_000;
/** When certificates end, by page and app: they are asked for now and then, so many at a time, however many there are. */
const ends = new WeakMap();
const DAY = 86_400_000;
const SOON_DAYS = 30;

/** Each question by itself: one that is refused must not hide the others' answers. What could not be asked is remembered. */
function asker(failures) {
  return async (what, question) => {
    try {
      return await question();
    } catch (error) {
      if (isAbort(error) || !(error instanceof ApiError)) throw error;
      if (error.offline) throw error;
      failures.push({ what, error });
      return null;
    }
  };
}

/**
 * What should be looked at, the oldest event that is not done, the newest one (undefined where it could not be asked), and the last
 * hour's figures.
 * @returns {Promise<{trouble: Array<{kind: "bad"|"warn", text: Array, isOff?: boolean, href?: string, act?: string}>,
 *   oldest: object|null, newest: object|null|undefined, hour: object|null}>}
 */
export async function lookAround(page) {
  const failures = [];
  const ask = asker(failures);
  const get = (what, ...segments) => ask(what, async () => (await page.api.get(page.path(...segments), { signal: page.signal })).data);
  const [switches, providers, endpoints, sources, hour, events] = await Promise.all([
    get("The switches", "notifications"), get("The providers", "providers"), get("The endpoints", "endpoints"),
    get("The sources", "sources"),
    ask("The figures", () => readStats(page, spans.hour)), ask("The events", () => Promise.all([oldestWaiting(page), newestOf(page)])),
  ]);
  const [oldest = null, newest] = events ?? [];
  const trouble = [
    ...ofQueue(providers?.queue),
    ...ofSwitches(page, switches),
    ...ofLanes(page, providers?.items ?? []),
    ...ofEndpoints(page, endpoints?.items ?? []),
    ...ofSources(page, sources?.items ?? []),
    ...ofDeadLetters(page, hour),
    ...await ofCertificates(page, providers?.items ?? [], ask),
    ...ofOldest(page, oldest),
  ];
  return { trouble: [...ofFailures(failures), ...trouble], oldest, newest, hour };
}

/** What could not be asked may hide anything. */
function ofFailures(failures) {
  return failures.map(({ what, error }) => ({ kind: "warn", text: [`${what} could not be looked at (${error.status}): `, name(error.message),
    error.requestId && h("span", { class: "muted small" }, " Request ", h("code", null, error.requestId))] }));
}

function ofOldest(page, oldest) {
  if (!oldest?.event || oldest.age < 60_000) return [];
  return [{ kind: "warn", href: page.href("events", oldest.event.id), act: "Event",
    text: [`The oldest event that is not done was accepted ${oldest.ago} ago`] }];
}

/** What no network can do anything about. */
function ofQueue(queue) {
  if (!queue) return [];
  return [{ kind: "bad", text: [`What is due is not worked on, for ${duration(queue.oldestSeconds * 1000)} by now: `, queue.failing.join(", "),
    " fails. Whoever runs the service finds the reason in its log and in GET /health/ready"] }];
}

function ofSwitches(page, switches) {
  if (!switches) return [];
  const href = page.href("switches");
  const since = switches.updatedAt ? [", last changed ", time(switches.updatedAt)] : [];
  if (!switches.enabled) return [{ kind: "bad", isOff: true, text: ["All notifications of this network are switched off", since], href, act: "Switches" }];
  const off = [...Object.entries(switches.modules), ...Object.entries(switches.events)].filter(([, value]) => !value.enabled);
  if (off.length === 0) return [];
  return [{ kind: "warn", text: [`Switched off for the whole network: ${off.map(([key]) => key).join(", ")}`, since], href, act: "Switches" }];
}

function laneName(lane) {
  const what = lane.appId ?? lane.host;
  return what ? [providerName(lane.provider), " ", name(what, { longest: 80 })] : providerName(lane.provider);
}

function ofLanes(page, lanes) {
  const href = page.href("providers");
  return lanes.flatMap((lane) => {
    const found = [];
    if (lane.circuit === "open") {
      found.push({ kind: "bad", href, act: "Providers",
        text: [laneName(lane), laneState(lane) === "failing" ? " is failing" : " is paused", lane.since ? [" since ", time(lane.since)] : null, lane.reason ? [": ", name(lane.reason)] : null] });
    }
    if (lane.brake) {
      found.push({ kind: "bad", href, act: "Providers", text: [laneName(lane), " is held since ", time(lane.brake.since), ": ", name(lane.brake.reason)] });
    }
    return found;
  });
}

function ofEndpoints(page, endpoints) {
  return endpoints.flatMap((endpoint) => {
    const href = page.href("endpoints", endpoint.id);
    const who = ["Endpoint ", name(endpoint.description ?? endpoint.url, { longest: 80 })];
    if (endpoint.state === "disabled") {
      return [{ kind: "warn", href, act: "Endpoint", text: [who, " is disabled", endpoint.stateReason ? [": ", name(endpoint.stateReason)] : null] }];
    }
    if (endpoint.circuit !== "open") return [];
    return [{ kind: "bad", href, act: "Endpoint", text: [who, " does not answer as it should", endpoint.lastError ? [": ", name(endpoint.lastError)] : null] }];
  });
}

function ofSources(page, sources) {
  return sources.filter(({ enabled, failures }) => enabled && failures > 0).map(({ id, lastError }) => ({ kind: "bad", href: page.href("sources"), act: "Sources",
    text: ["Source ", name(id, { longest: 80 }), " is failing", lastError ? [": ", name(lastError)] : null] }));
}

function ofDeadLetters(page, hour) {
  if (!hour) return [];
  const dead = sumOf(hour.points, (point) => Object.values(point.deliveries ?? {}).reduce((sum, each) => sum + (each.dead ?? 0), 0));
  if (dead === 0) return [];
  return [{ kind: "warn", href: page.href("dead-letters"), act: "Dead letters",
    text: [`${count(dead, "delivery was", "deliveries were")} given up in the last hour`] }];
}

async function ofCertificates(page, lanes, ask) {
  // A lane that waits for its credential has none that could end.
  const hasOne = (lane) => lane.provider === "apns" && lane.appId && !lacksCredential(lane.reason);
  const apps = [...new Set(lanes.filter(hasOne).map((lane) => lane.appId))];
  const known = ends.get(page) ?? new Map();
  ends.set(page, known);
  const due = apps.filter((app) => !(known.get(app)?.askedAt > now() - CERTIFICATE_MS)).slice(0, MOST_CERTIFICATES);
  await Promise.all(due.map(async (app) => {
    const path = page.path("providers", "apns", "apps", app);
    const shown = await ask(`The certificate of ${app}`, async () => (await page.api.get(path, { signal: page.signal })).data);
    if (shown) known.set(app, { askedAt: now(), notAfter: shown.notAfter });
  }));
  return apps.flatMap((app) => {
    const { notAfter } = known.get(app) ?? {};
    const left = notAfter ? Date.parse(notAfter) - now() : Infinity;
    if (left > SOON_DAYS * DAY) return [];
    return [{ kind: left < 7 * DAY ? "bad" : "warn", href: page.href("providers"), act: "Providers",
      text: ["The APNs certificate of ", name(app, { longest: 80 }), left < 0 ? " ended " : " ends ", time(notAfter)] }];
  });
}

/** How long things wait: the ages that are asked for, one after the other, until nothing is that old. */
const AGES = [[10_000, "10 s"], [60_000, "1 min"], [600_000, "10 min"], [3_600_000, "1 h"], [21_600_000, "6 h"], [86_400_000, "24 h"]];

/**
 * The age of the oldest event that is not done, as a range: the API finds events by state and time, and each question costs
 * it one row.
 * @returns {Promise<{words: string, ago?: string, event: object|null, age: number}>}
 */
async function oldestWaiting(page) {
  const find = (query) => Promise.all(["accepted", "delivering"].map(async (state) =>
    (await page.api.get(page.path("events"), { query: { state, limit: 1, ...query }, signal: page.signal })).data.items));
  let [event] = (await find({})).flat();
  if (!event) return { words: "None", event: null, age: 0 };
  let former = null;
  for (const [age, label] of AGES) {
    const [older] = (await find({ to: new Date(now() - age).toISOString() })).flat();
    if (!older && !former) return { words: `< ${label}`, ago: "just now", event, age: 0 };
    if (!older) return { words: `${former[1]} – ${label}`, ago: `between ${former[1]} and ${label}`, event, age: former[0] };
    former = [age, label];
    event = older;
  }
  return { words: "> 24 h", ago: "more than 24 h", event, age: former[0] };
}

async function newestOf(page) {
  return (await page.api.get(page.path("events"), { query: { limit: 1 }, signal: page.signal })).data.items[0] ?? null;
}

/** The list of what needs attention. */
export function troubleList(items) {
  return h("ul", { class: "trouble" }, items.map((item) => h("li", { class: item.kind },
    h("span", { class: "trouble-text" }, item.text), item.href && h("a", { href: item.href }, item.act))));
}
