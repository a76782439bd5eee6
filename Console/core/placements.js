/**
 * The placements that networks are kept in, as the operator sees them: one, unless somebody has divided the networks.
 */

import { api, pathOf } from "./api.js";
import { comeBack } from "./connection.js";
import { number } from "./format.js";

export const placementPath = (...segments) => pathOf("v1", "placements", ...segments);

/** @returns {Promise<Array<{name: string, state: "open"|"full"|"leaving", ready: boolean, reason: string|null, networks: number,
 *   schema: {version: number|null, pending: Array<string>}|null, bytes: number|null}>>} in the order of their names */
export async function readPlacements(options) {
  return (await api.get(placementPath(), options)).data;
}

/** Whether there are several; asks until it is known, or nobody wants to know any more. */
export async function areSeveral(isOver) {
  for (let failures = 1; !isOver(); failures += 1) {
    try {
      return (await readPlacements()).length > 1;
    } catch (error) {
      if (!error.isPassing) return false;
      await new Promise((resolve) => {
        comeBack(error, resolve, failures);
      });
    }
  }
  return false;
}

/** `12 KiB`, `340 MiB`, `2.4 GiB` */
export function size(bytes) {
  const kibibytes = bytes / 2 ** 10;
  if (kibibytes < 1024) return `${number(Math.ceil(kibibytes))} KiB`;
  const mebibytes = kibibytes / 1024;
  return mebibytes < 1024 ? `${number(Math.round(mebibytes))} MiB` : `${number(Math.round(mebibytes / 102.4) / 10)} GiB`;
}
