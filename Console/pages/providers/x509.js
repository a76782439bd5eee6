/**
 * What a certificate and a private key say about themselves.
 */

import { readElement, readElements, readOID, readText, readTime } from "./der.js";

const NAMES = {
  "2.5.4.3": "CN",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "0.9.2342.19200300.100.1.1": "UID",
};
const APPLE_TOPICS = "1.2.840.113635.100.6.3.6";
const CURVES = { "1.2.840.10045.3.1.7": "P-256", "1.3.132.0.34": "P-384", "1.3.132.0.35": "P-521" };

/**
 * @param {Uint8Array} bytes a certificate in DER
 * @returns {{subject: string, commonName: string|null, userID: string|null, topics: string[], notBefore: Date, notAfter: Date}}
 */
export function readCertificate(bytes) {
  const [signed] = readElements(readElement(bytes).content);
  const parts = readElements(signed.content);
  if (parts[0].tag === 0xa0) parts.shift();
  const [, , , validity, subject] = parts;
  const [notBefore, notAfter] = readElements(validity.content).map(readTime);
  const names = readName(subject);
  const valueOf = (wanted) => names.find(({ name }) => name === wanted)?.value ?? null;
  const userID = valueOf("UID");
  const topics = readTopics(parts.find(({ tag }) => tag === 0xa3));
  return {
    subject: names.map(({ name, value }) => `${name}=${value}`).join(", "),
    commonName: valueOf("CN"),
    userID,
    topics: topics.length > 0 ? topics : [userID].filter(Boolean),
    notBefore,
    notAfter,
  };
}

function readName({ content }) {
  return readElements(content).flatMap((set) =>
    readElements(set.content).map((pair) => {
      const [oid, value] = readElements(pair.content);
      const name = readOID(oid.content);
      return { name: NAMES[name] ?? name, value: readText(value) };
    }),
  );
}

/** The apps that Apple's extension names: text and sort by turns. */
function readTopics(extensions) {
  if (!extensions) return [];
  for (const extension of readElements(readElement(extensions.content).content)) {
    const parts = readElements(extension.content);
    if (readOID(parts[0].content) !== APPLE_TOPICS) continue;
    const list = readElement(parts.at(-1).content);
    return readElements(list.content).filter(({ tag }) => tag === 0x0c).map(readText);
  }
  return [];
}

/**
 * What kind of key it is, such as `EC P-256` or `RSA`; null when that cannot be seen.
 * @param {{label: string, bytes: Uint8Array}} block of PEM
 */
export function keyKind({ label, bytes }) {
  try {
    if (label === "RSA PRIVATE KEY") return "RSA";
    const parts = readElements(readElement(bytes).content);
    if (label === "EC PRIVATE KEY") {
      const curve = parts.find(({ tag }) => tag === 0xa0);
      return `EC ${CURVES[curve && readOID(readElement(curve.content).content)] ?? "of another curve"}`;
    }
    const [algorithm, parameter] = readElements(parts[1].content);
    const oid = readOID(algorithm.content);
    if (oid === "1.2.840.113549.1.1.1") return "RSA";
    if (oid === "1.2.840.10045.2.1") return `EC ${CURVES[readOID(parameter.content)] ?? "of another curve"}`;
    return oid === "1.3.101.112" ? "Ed25519" : null;
  } catch {
    return null;
  }
}

/** Whether bytes are a PKCS#12 file: a sequence that begins with version 3. */
export function isPKCS12(bytes) {
  try {
    const [version, content] = readElements(readElement(bytes).content);
    return version.tag === 0x02 && version.content.length === 1 && version.content[0] === 3 && content.tag === 0x30;
  } catch {
    return false;
  }
}

/** Whether bytes are one certificate in DER, as in a `.cer` file. */
export function isCertificate(bytes) {
  try {
    return !Number.isNaN(readCertificate(bytes).notAfter.getTime());
  } catch {
    return false;
  }
}
