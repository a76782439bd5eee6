/**
 * Reads what a credential's file says about itself: PEM, and as much of DER as a certificate and a key need. Nothing here
 * checks a signature: the service does, when it is saved.
 */

const utf8 = new TextDecoder("utf-8", { fatal: false });

/**
 * One element of DER.
 * @param {Uint8Array} bytes
 * @param {number} [offset]
 * @returns {{tag: number, content: Uint8Array, end: number}}
 */
export function readElement(bytes, offset = 0) {
  const tag = bytes[offset];
  let length = bytes[offset + 1];
  let start = offset + 2;
  if (tag === undefined || length === undefined) throw new RangeError("The file ends too early.");
  if (length > 0x80) {
    const count = length - 0x80;
    if (count > 4) throw new RangeError("A part of the file is too long.");
    length = 0;
    for (let index = 0; index < count; index += 1) length = length * 256 + (bytes[start + index] ?? 0);
    start += count;
  } else if (length === 0x80) {
    throw new RangeError("The file is BER with an open end, not DER.");
  }
  if (start + length > bytes.length) throw new RangeError("The file ends too early.");
  return { tag, content: bytes.subarray(start, start + length), end: start + length };
}

/** The elements inside of another. */
export function readElements(content) {
  const elements = [];
  for (let offset = 0; offset < content.length; ) {
    const element = readElement(content, offset);
    elements.push(element);
    offset = element.end;
  }
  return elements;
}

/** `1.2.840.10045.2.1` */
export function readOID(content) {
  const parts = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0) parts.push(Math.min(2, Math.floor(value / 40)), value - 40 * Math.min(2, Math.floor(value / 40)));
    else parts.push(value);
    value = 0;
  }
  return parts.join(".");
}

/** The text of any of the string types. */
export function readText({ tag, content }) {
  if (tag === 0x1e) return new TextDecoder("utf-16be").decode(content);
  if (tag === 0x14) return new TextDecoder("latin1").decode(content);
  return utf8.decode(content);
}

/** A UTCTime or a GeneralizedTime; an invalid date where it is neither. */
export function readTime({ tag, content }) {
  const text = utf8.decode(content);
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?Z$/.exec(text);
  if (!match || (tag !== 0x17 && tag !== 0x18)) return new Date(NaN);
  const [, years, month, day, hour, minute, second = "00"] = match;
  const year = years.length === 4 ? Number(years) : Number(years) + (Number(years) < 50 ? 2000 : 1900);
  return new Date(Date.UTC(year, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)));
}

/**
 * The blocks of a PEM text, in their order.
 * @returns {Array<{label: string, bytes: Uint8Array, text: string}>}
 */
export function readPEM(text) {
  const blocks = [];
  const pattern = /-----BEGIN ([A-Z0-9 ]{1,64})-----([^-]*)-----END \1-----/g;
  for (const [whole, label, inner] of text.matchAll(pattern)) {
    // Old keys have headers, as "Proc-Type: 4,ENCRYPTED", up to an empty line.
    const [, headers = "", base64 = inner] = /^\s*((?:[A-Za-z-]+:.*\r?\n)+)\r?\n([\s\S]*)$/.exec(inner) ?? [];
    const isLocked = label.startsWith("ENCRYPTED") || /ENCRYPTED/.test(headers);
    blocks.push({ label, bytes: bytesOfBase64(base64), text: `${whole}\n`, isLocked });
  }
  return blocks;
}

/** Bytes as PEM. */
export function writePEM(label, bytes) {
  const lines = base64OfBytes(bytes).match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** Base64 of bytes. */
export function base64OfBytes(bytes) {
  let binary = "";
  for (let offset = 0; offset < bytes.length; offset += 8192) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + 8192));
  }
  return btoa(binary);
}

function bytesOfBase64(text) {
  try {
    return Uint8Array.from(atob(text.replace(/\s+/g, "")), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
