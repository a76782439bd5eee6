/**
 * What a button begins and nobody waits for: what goes wrong is said at the edge of the window.
 */

import { isAbort } from "../core/api.js";
import { problem } from "./problem.js";
import { toast } from "./toast.js";

/** @param {() => Promise<any>} act */
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    if (!isAbort(error)) toast(problem(error, { compact: true }), { kind: "bad", seconds: 15 });
    return undefined;
  }
}
