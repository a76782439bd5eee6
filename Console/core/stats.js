/**
 * The figures of `GET /stats`, put into even bins and added up.
 */

import { now } from "./connection.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** How far back one can look, and in which steps. */
export const spans = {
  hour: { value: "hour", label: "Hour", words: "the last hour", ms: HOUR, step: "minute", stepMs: MINUTE },
  day: { value: "day", label: "Day", words: "the last day", ms: 24 * HOUR, step: "hour", stepMs: HOUR },
  week: { value: "week", label: "Week", words: "the last week", ms: 7 * 24 * HOUR, step: "hour", stepMs: HOUR },
};

/**
 * Asks for the figures of one span.
 * @returns {Promise<{at: number[], points: Array<object|null>, span: object}>} one bin a step, the last one not over yet;
 *   a bin in which nothing happened is null
 */
export async function readStats(page, span, { signal = page.signal } = {}) {
  const end = Math.floor(now() / span.stepMs) * span.stepMs + span.stepMs;
  const begin = end - span.ms;
  const { data } = await page.api.get(page.path("stats"), {
    query: { from: new Date(begin).toISOString(), to: new Date(end).toISOString(), step: span.step }, signal });
  const at = Array.from({ length: span.ms / span.stepMs }, (_, index) => begin + index * span.stepMs);
  const points = at.map(() => null);
  for (const point of data.points) {
    const place = Math.floor((Date.parse(point.at) - begin) / span.stepMs);
    if (place >= 0 && place < points.length) points[place] = point;
  }
  return { at, points, span };
}

/** One number of each bin; 0 where nothing happened. */
export function valuesOf(points, pick) {
  return points.map((point) => (point ? pick(point) ?? 0 : 0));
}

/** The sum of one number over all bins. */
export function sumOf(points, pick) {
  return valuesOf(points, pick).reduce((sum, value) => sum + value, 0);
}

/** All keys that a member has in any of the bins: the types or providers that there were. */
export function keysOf(points, member) {
  return [...new Set(points.flatMap((point) => Object.keys(point?.[member] ?? {})))].sort();
}
