/**
 * Of questions that come quickly one after the other, as by typing, only the last one counts.
 */

import { isAbort } from "./api.js";

/**
 * Wraps a question: it is asked when nothing came for a while, and aborted when another comes.
 * @template Argument
 * @param {(argument: Argument, options: {signal: AbortSignal}) => Promise<void>} ask shows what it learns
 * @param {{ms?: number, signal: AbortSignal, onError: (error: Error) => void}} options `signal` ends it all; `onError` hears
 *   of what went wrong, unless another question has come meanwhile
 * @returns {{ask: (argument: Argument) => void, now: (argument: Argument) => Promise<void>, cancel: () => void}}
 */
export function latest(ask, { ms = 250, signal, onError }) {
  let timer = null;
  let current = null;
  signal?.addEventListener("abort", cancel, { once: true });

  function cancel() {
    clearTimeout(timer);
    current?.abort();
    current = null;
  }

  async function now(argument) {
    cancel();
    if (signal?.aborted) return;
    const mine = new AbortController();
    current = mine;
    try {
      await ask(argument, { signal: mine.signal });
    } catch (error) {
      if (!mine.signal.aborted && !isAbort(error)) onError(error);
    }
  }

  return {
    ask(argument) {
      cancel();
      timer = setTimeout(() => now(argument), ms);
    },
    now,
    cancel,
  };
}
