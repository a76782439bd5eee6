/**
 * The same for many things, a few at a time and no faster than the service wants it.
 */

import { wait } from "../../core/wait.js";

const AT_ONCE = 4;
const PATIENCE = 5;

/**
 * Runs `act` for each item; the first failure that does not pass ends it. What is gone already counts as done, and
 * `onEach` hears that it was gone.
 * @param {Array} items
 * @param {(item) => Promise<void>} act
 * @param {{signal: AbortSignal, onEach: (item, wasThere: boolean) => void}} options
 */
export async function forEach(items, act, { signal, onEach }) {
  const left = [...items];
  let failure = null;

  async function work() {
    for (let item = left.shift(); item !== undefined && failure === null; item = left.shift()) {
      try {
        onEach(item, await patiently(() => act(item), signal));
      } catch (error) {
        failure ??= error;
      }
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (failure) throw failure;
}

async function patiently(run, signal) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run();
      return true;
    } catch (error) {
      if (error.status === 404) return false;
      if (error.status !== 429 && error.status !== 503) throw error;
      if (attempt === PATIENCE) throw error;
      await wait(Math.max(1, error.retryAfter ?? 1) * 1000, signal);
    }
  }
}
