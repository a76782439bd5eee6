/**
 * Random names for requests that may be sent twice.
 */

/** 128 random bits in hexadecimal. `crypto.randomUUID` is not there without HTTPS. */
export function randomID() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
