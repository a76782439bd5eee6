/**
 * Whether the service answers, and what time it thinks it is.
 */

const listeners = new Set();
const state = { up: true, since: null, clockOffset: 0 };

function tell() {
  for (const listener of listeners) listener({ ...state });
}

export const connection = {
  get state() {
    return { ...state };
  },
  /** Called by the API client after each request. */
  report(up) {
    if (state.up === up) return;
    state.up = up;
    state.since = up ? null : Date.now();
    tell();
  },
  /** Learns by how much this computer's clock differs from the service's, from the `Date` of an answer. */
  hearClock(header, sentAt) {
    const told = Date.parse(header ?? "");
    if (Number.isNaN(told)) return;
    // The header has whole seconds, and the answer took a while: what is below two seconds is noise.
    const difference = told + 500 - (sentAt + Date.now()) / 2;
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

/** Now, by the service's clock: a wrong clock here must not make events come from the future. */
export function now() {
  return Date.now() + state.clockOffset;
}
