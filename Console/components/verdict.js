/**
 * What became of a post, in a word.
 */

import { badge } from "./badge.js";
import { name } from "./name.js";

const VERDICTS = new Map([
  ["accepted", ["Accepted", "good"]],
  ["duplicate", ["Duplicate", "neutral"]],
  ["ignored", ["Ignored", "neutral"]],
  ["refused", ["Refused", "bad"]],
]);

/** @param {string} verdict one that is not known here is shown as it is */
export function verdictBadge(verdict) {
  const known = VERDICTS.get(verdict);
  return known ? badge(...known) : name(verdict, { longest: 60 });
}
