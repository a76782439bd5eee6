/**
 * Requests that make something, and may have to be sent again.
 */

import { randomID } from "./random.js";

/**
 * Lets a request be sent again when its answer was lost: what it makes is made once, however often the button is pressed.
 * @returns {(send: (headers: object) => Promise<any>) => Promise<any>} calls `send` with the header; after a refusal the next
 *   call is a request of its own, as something else may be sent
 */
export function once() {
  let key = randomID();
  return async (send) => {
    try {
      return await send({ "idempotency-key": key });
    } catch (error) {
      if (error.status >= 400 && error.status < 500) key = randomID();
      throw error;
    }
  };
}
