/**
 * Says what dropped files are, and what they identify, before anything is sent.
 */

import { base64OfBytes, readPEM, writePEM } from "./der.js";
import { isCertificate, isPKCS12, keyKind, readCertificate } from "./x509.js";

const LARGEST = 64 * 1024;
const DAY_MS = 86_400_000;

/**
 * @typedef {object} Identified
 * @property {"apns"|"fcm"|null} provider whose credential it is; null where that cannot be said
 * @property {"key"|"certificate"|"pkcs12"|"serviceAccount"|null} kind
 * @property {string} title in words
 * @property {object} body what `PUT` is to be sent, as far as the files hold it
 * @property {Array<[string, string|Date]>} facts what they identify
 * @property {string[]} problems why it cannot be saved like this
 * @property {string[]} warnings
 * @property {{appId?: string, keyId?: string}} suggestions
 */

/**
 * Identifies files that belong together: one, or a certificate and its key.
 * @param {Array<{name: string, bytes: Uint8Array}>} files
 * @param {number} now by the service’s clock
 * @returns {Identified}
 */
export function identify(files, now) {
  const tooLarge = files.find(({ bytes }) => bytes.length > LARGEST);
  if (tooLarge) return unknown(`${tooLarge.name} is over 64 KiB: no credential is.`);
  const parts = { keys: [], certificates: [] };
  for (const file of files) {
    const text = new TextDecoder().decode(file.bytes);
    if (/^\s*\{/.test(text)) return serviceAccount(text);
    const blocks = readPEM(text);
    if (blocks.length === 0 && isPKCS12(file.bytes)) return pkcs12(file);
    if (blocks.length === 0 && isCertificate(file.bytes)) {
      parts.certificates.push({ bytes: file.bytes, text: writePEM("CERTIFICATE", file.bytes) });
    }
    for (const block of blocks) {
      if (block.label === "CERTIFICATE") parts.certificates.push(block);
      else if (block.label.endsWith("PRIVATE KEY")) parts.keys.push({ ...block, file: file.name });
    }
  }
  if (parts.certificates.length > 0) return certificate(parts, now);
  if (parts.keys.length > 0) return key(parts.keys);
  return unknown("This is no .p8, .p12 or .pem file, and no service account's JSON.");
}

function unknown(problem) {
  return { provider: null, kind: null, title: "Not a credential", body: {}, facts: [], problems: [problem], warnings: [], suggestions: {} };
}

function key(keys) {
  const [first] = keys;
  const kind = keyKind(first);
  const problems = [];
  if (keys.length > 1) problems.push("There is more than one private key.");
  if (first.isLocked) problems.push("The key is locked with a passphrase: Carillon needs it without one.");
  else if (kind?.startsWith("RSA")) problems.push("This is an RSA key without its certificate: drop the certificate, too.");
  else if (kind === null) problems.push("The key cannot be read: the file may be cut off.");
  else if (kind !== "EC P-256") problems.push("An APNs key is on P-256, and this one is not.");
  const keyId = /AuthKey_([A-Za-z0-9]{1,32})\.p8$/.exec(first.file)?.[1];
  return {
    provider: "apns",
    kind: "key",
    title: "APNs key",
    body: { privateKey: first.text },
    facts: [["Key", kind ?? "unreadable"], ...(keyId ? [["Key id, by the file’s name", keyId]] : [])],
    problems,
    warnings: [],
    suggestions: { keyId },
  };
}

function certificate({ certificates, keys }, now) {
  const problems = [];
  const warnings = [];
  let facts = [];
  let appId;
  try {
    const read = readCertificate(certificates[0].bytes);
    appId = read.userID ?? read.topics[0];
    facts = [
      ["Subject", read.subject],
      ["For", read.topics.join(", ") || "no app is named"],
      ["Valid from", read.notBefore],
      ["Valid until", read.notAfter],
    ];
    if (read.notAfter.getTime() <= now) warnings.push("The certificate has expired.");
    else if (read.notAfter.getTime() - now < 30 * DAY_MS) warnings.push("The certificate ends in less than 30 days.");
    if (read.notBefore.getTime() > now) warnings.push("The certificate is not valid yet.");
  } catch {
    problems.push("The certificate cannot be read.");
  }
  if (keys.length === 0) problems.push("Its private key is missing: drop the key’s .pem file, too.");
  else if (keys.length > 1) problems.push("There is more than one private key.");
  else if (keys[0].isLocked) problems.push("The key is locked with a passphrase: Carillon needs it without one.");
  else facts.push(["Key", keyKind(keys[0]) ?? "unreadable"]);
  return {
    provider: "apns",
    kind: "certificate",
    title: "APNs certificate",
    body: { certificate: certificates.map(({ text }) => text).join(""), ...(keys[0] ? { privateKey: keys[0].text } : {}) },
    facts,
    problems,
    warnings,
    suggestions: { appId },
  };
}

function pkcs12({ name, bytes }) {
  return {
    provider: "apns",
    kind: "pkcs12",
    title: "APNs certificate in a PKCS#12 file",
    body: { pkcs12: base64OfBytes(bytes) },
    facts: [["File", `${name}, ${bytes.length.toLocaleString("en-GB")} bytes`]],
    problems: bytes.length > 49_140 ? ["The file is too large: at most 65,520 characters of base64 are taken."] : [],
    warnings: ["It is encrypted: whom it is for is read with the passphrase, by the service, when it is saved."],
    suggestions: {},
  };
}

function serviceAccount(text) {
  let account;
  try {
    account = JSON.parse(text);
  } catch {
    return unknown("It begins like JSON, but does not parse.");
  }
  if (account.project_info && account.client) {
    return unknown(
      "This is google-services.json, which belongs in the app. The service account's key is made in Firebase under Project settings, Service accounts.",
    );
  }
  if (account.type !== "service_account") return unknown("This JSON is not a service account's key.");
  const problems = ["project_id", "client_email", "private_key", "token_uri"]
    .filter((name) => typeof account[name] !== "string")
    .map((name) => `${name} is missing.`);
  return {
    provider: "fcm",
    kind: "serviceAccount",
    title: "FCM service account",
    body: { serviceAccount: account },
    facts: [
      ["Project", String(account.project_id ?? "–")],
      ["Address", String(account.client_email ?? "–")],
      ["Key id", String(account.private_key_id ?? "–")],
    ],
    problems,
    warnings: [],
    suggestions: {},
  };
}

/** The names and bytes of files; of one that is far too large, only its beginning. */
export function readFiles(files) {
  return Promise.all([...files].map(async (file) => ({
    name: file.name,
    bytes: new Uint8Array(await file.slice(0, 128 * 1024).arrayBuffer()),
  })));
}
