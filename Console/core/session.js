/**
 * Who is signed in. The key lives in this tab's sessionStorage and nowhere else.
 */

const KEY = "carillon.session";
const listeners = new Set();

let current = read();
let farewell = null;

function read() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return stored?.token && stored?.role ? stored : null;
  } catch {
    return null;
  }
}

function tell() {
  for (const listener of listeners) listener(current);
}

export const session = {
  /** `{token, role, network}` or null; `network` is null for the operator. */
  get current() {
    return current;
  },
  /** Why the last session ended, for the page to sign in on; null when somebody signed out. */
  get farewell() {
    return farewell;
  },
  begin({ token, role, network }) {
    current = { token, role, network: network ?? null };
    farewell = null;
    sessionStorage.setItem(KEY, JSON.stringify(current));
    tell();
  },
  /** @param {{title: string, requestId?: string}|null} reason */
  end(reason = null) {
    if (!current) return;
    current = null;
    farewell = reason;
    sessionStorage.removeItem(KEY);
    tell();
  },
  /** Calls `listener` whenever somebody signs in or out. */
  onChange(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
