/**
 * Polling that is polite: it rests while nobody looks, and waits longer while the service is away.
 */

import { ApiError, isAbort } from "./api.js";

const LONGEST_MS = 30_000;

/**
 * Calls `run` at once and then every `ms`, until `signal` ends.
 * @param {(options: {signal: AbortSignal}) => Promise<void>} run
 * @param {number} ms
 * @param {{signal: AbortSignal, onError?: (error: Error) => void}} options `onError` hears of every failure; one that does
 *   not pass by itself also stops the polling, until somebody calls `now`: something else is asked for then.
 * @returns {{now: () => Promise<void>, pause: () => void, resume: () => void, stop: () => void,
 *   state: "live"|"paused"|"hidden"|"retrying"|"stopped", onState: (listener) => void}}
 */
export function live(run, ms, { signal, onError } = {}) {
  let timer = null;
  let failures = 0;
  let running = null;
  let isAskedAgain = false;
  let hasEnded = false;
  let state = "live";
  let heldByHand = false;
  const listeners = new Set();

  function become(next) {
    if (state === next) return;
    state = next;
    for (const listener of listeners) listener(state);
  }

  function schedule(wait) {
    clearTimeout(timer);
    if (state === "stopped" || heldByHand || document.hidden) return;
    timer = setTimeout(tick, wait);
  }

  function tick() {
    if (running) return running;
    if (state === "stopped") return Promise.resolve();
    running = attempts().finally(() => {
      running = null;
    });
    return running;
  }

  /** What is under way may have asked for something else than what is wanted now: then it is asked once more. */
  async function attempts() {
    do {
      isAskedAgain = false;
      clearTimeout(timer);
      await attempt();
    } while (isAskedAgain && !hasEnded);
  }

  function now() {
    if (hasEnded) return Promise.resolve();
    if (state === "stopped") become(heldByHand ? "paused" : "live");
    isAskedAgain = running !== null;
    return tick();
  }

  /** Rests until somebody calls `now`. */
  function rest() {
    clearTimeout(timer);
    if (!isAskedAgain) become("stopped");
  }

  async function attempt() {
    try {
      await run({ signal });
      failures = 0;
      if (!heldByHand && state !== "stopped") become(document.hidden ? "hidden" : "live");
      schedule(ms);
    } catch (error) {
      if (hasEnded || isAbort(error) || signal?.aborted) return stop();
      failures += 1;
      onError?.(error);
      if (!(error instanceof ApiError)) {
        console.error(error);
        return rest();
      }
      if (!error.isPassing) return rest();
      if (!heldByHand) become("retrying");
      const backoff = Math.min(LONGEST_MS, Math.max(ms, 1000) * 2 ** Math.min(failures, 6));
      schedule(Math.max(backoff * (0.8 + Math.random() * 0.4), (error.retryAfter ?? 0) * 1000));
    }
  }

  function onVisibility() {
    if (state === "stopped" || heldByHand) return;
    if (document.hidden) {
      clearTimeout(timer);
      become("hidden");
    } else {
      become("live");
      tick();
    }
  }

  function onOnline() {
    if (!heldByHand && !document.hidden) tick();
  }

  function stop() {
    hasEnded = true;
    clearTimeout(timer);
    become("stopped");
    document.removeEventListener("visibilitychange", onVisibility);
    window.removeEventListener("online", onOnline);
  }

  document.addEventListener("visibilitychange", onVisibility);
  window.addEventListener("online", onOnline);
  signal?.addEventListener("abort", stop, { once: true });
  if (document.hidden) state = "hidden";
  // The first look happens also behind a hidden tab: whoever comes to it must not find nothing.
  tick();

  return {
    now,
    pause() {
      heldByHand = true;
      clearTimeout(timer);
      if (state !== "stopped") become("paused");
    },
    resume() {
      heldByHand = false;
      if (state === "stopped") return;
      become(document.hidden ? "hidden" : "live");
      tick();
    },
    stop,
    get state() {
      return state;
    },
    onState(listener) {
      listeners.add(listener);
      listener(state);
    },
  };
}
