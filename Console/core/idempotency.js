/**
 * Requests that make something, and may have to be sent again.
 */

import { randomID } from "./random.js";

/**
 * Lets something be sent again when its answer was lost: what it makes is made once, however often the button is pressed.
 * @returns {(body: object, send: (key: string) => Promise<any>) => Promise<any>} calls `send` with the key; what differs from
 *   what was sent before, or comes after an answer, has a key of its own
 */
export function once() {
  let key = null;
  let sent = null;
  return async (body, send) => {
    const json = JSON.stringify(body);
    if (json !== sent) key = randomID();
    sent = json;
    try {
      const answer = await send(key);
      sent = null;
      return answer;
    } catch (error) {
      if (error.status >= 400 && error.status < 500) sent = null;
      throw error;
    }
  };
}

/** Posts with an idempotency key, so that it is done once. @returns {(path: string, body: object) => Promise<object>} */
export function postOnce(page) {
  const send = once();
  return (path, body) => send(body, (key) => page.api.post(path, body, { headers: { "idempotency-key": key }, signal: page.signal }));
}
