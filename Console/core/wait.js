/**
 * Waits; ends with an AbortError when the signal does.
 * @param {number} ms
 * @param {AbortSignal} signal
 */
export function wait(ms, signal) {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(new DOMException("The page was left.", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", leave);
      resolve();
    }, ms);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });
}
