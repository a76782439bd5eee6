/**
 * Whether the service answers, and what time it thinks it is.
 */

/** What is asked for while the service does not answer: small, and there for whoever asks. */
const CHEAP = "/console/manifest.json";
const SOON_MS = 2000;
const LONGEST_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** What a proxy says for a service that does not answer. */
export const GATEWAY_ERRORS = new Set([502, 503, 504]);

const listeners = new Set();
const state = { up: true, since: null, clockOffset: 0 };
let timer = null;

function tell() {
  for (const listener of listeners) listener({ ...state });
}

async function check() {
  try {
    const { status } = await fetch(CHEAP, { cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(TIMEOUT_MS) });
    connection.report(!GATEWAY_ERRORS.has(status));
  } catch {
    connection.report(false);
  }
}

/** Most pages ask only when somebody does something: until the service answers, this asks by itself, less and less often. */
function checkLater(wait) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    await check();
    if (!state.up) checkLater(Math.min(wait * 2, LONGEST_MS));
  }, wait * (0.8 + Math.random() * 0.4));
}

window.addEventListener("online", () => {
  if (!state.up) check();
});

export const connection = {
  get state() {
    return { ...state };
  },
  /** Called by the API client after each request. */
  report(up) {
    if (state.up === up) return;
    state.up = up;
    state.since = up ? null : Date.now();
    if (up) clearTimeout(timer);
    else checkLater(SOON_MS);
    tell();
  },
  /** Asks whether the service answers. */
  check,
  /** Learns by how much this computer's clock differs from the service's, from the `Date` of an answer. */
  hearClock(header, sentAt) {
    const told = Date.parse(header ?? "");
    if (Number.isNaN(told)) return;
    // The header has whole seconds and is of any moment between request and answer: what is known stays as far as it can be so.
    const difference = Math.min(Math.max(state.clockOffset, told - Date.now()), told + 1000 - sentAt);
    const offset = Math.abs(difference) < 2000 ? 0 : difference;
    const moved = Math.abs(offset - state.clockOffset) > 5000;
    state.clockOffset = offset;
    if (moved) tell();
  },
  onChange(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/**
 * Does something again that could not be done: as soon as the service answers, or after a while where it does but could not do it.
 * What fails again although the service answers others waits longer and longer: an answer to somebody else would ask it at once.
 * @param {{isPassing: boolean, retryAfter: number|null}} error what went wrong; nothing happens where that does not pass by itself
 * @param {() => void} again
 * @param {number} failures how often in a row it went wrong, this time included
 * @returns {() => void} lets it be
 */
export function comeBack(error, again, failures) {
  if (!error.isPassing) return () => {};
  const wait = Math.max(Math.min(SOON_MS * 2 ** (failures - 1), LONGEST_MS), (error.retryAfter ?? 0) * 1000);
  let soon;
  const later = () => {
    soon = setTimeout(again, wait * (1 + Math.random() * 0.2));
  };
  const listener = ({ up }) => {
    if (!up) return;
    listeners.delete(listener);
    if (failures > 1) later();
    else again();
  };
  if (state.up) later();
  else listeners.add(listener);
  return () => {
    listeners.delete(listener);
    clearTimeout(soon);
  };
}

/** Now, by the service's clock: a wrong clock here must not make events come from the future. */
export function now() {
  return Date.now() + state.clockOffset;
}
