/**
 * The faces: whose apps they answer, what a name of theirs is, and what is usually said of one.
 */

const ENVIRONMENTS = [
  { value: "", label: "usual (production)" },
  { value: "production", label: "production" },
  { value: "sandbox", label: "sandbox: builds from Xcode" },
];

/** The app of a credential for iOS or Android. */
function app(member, words, rest = {}) {
  return { path: [member, "appId"], label: `${words}: app of the credential`, mono: true, ...rest };
}

function environment(member) {
  return { path: [member, "environment"], label: "iOS: environment", kind: "select", options: ENVIRONMENTS,
    when: (document) => Boolean(document[member]) };
}

const isFor = (...providers) => ({ provider }) => providers.includes(provider);

const MATRIX = [
  { path: ["provider"], label: "Push service", kind: "select", options: [
    { value: "", label: "none: the app is retired" },
    { value: "apns", label: "APNs" },
    { value: "fcm", label: "FCM" },
    { value: "webpush", label: "Web Push" },
  ] },
  { path: ["appId"], label: "App of the credential", mono: true, hint: "As on the page Providers. Without it: the app id itself.",
    when: isFor("apns", "fcm") },
  { path: ["environment"], label: "Environment", kind: "select", options: ENVIRONMENTS, when: isFor("apns") },
  { path: ["pushkeyFormat"], label: "Pushkeys are", kind: "select", when: isFor("apns"), options: [
    { value: "", label: "usual (auto)" },
    { value: "auto", label: "auto: found out one by one" },
    { value: "base64", label: "base64" },
    { value: "hex", label: "hex" },
  ] },
  { path: ["allowedEndpoints"], label: "Hosts of Web Push", kind: "list", mono: true, when: isFor("webpush"),
    placeholder: "updates.push.services.mozilla.com, *.notify.windows.com" },
  { path: ["payload"], label: "Devices are sent", kind: "select", options: [
    { value: "", label: "usual (sygnal)" },
    { value: "sygnal", label: "sygnal: what apps expect that were built for it" },
    { value: "text", label: "text: title and body by the template of messages" },
    { value: "buzz", label: "buzz: Buzz’s keys" },
  ] },
  { path: ["ttlSeconds"], label: "Worth delivering for (seconds)", kind: "number" },
  { path: ["badge"], label: "Show the number of unread messages", kind: "checkbox", usual: true },
  { path: ["sound"], label: "Play the sound that the user’s rules ask for", kind: "checkbox", usual: false },
  { path: ["gatewayKeyRequired"], label: "Only with a gateway key of this network", kind: "checkbox", usual: false,
    hint: "The name is then this network’s alone, and its admin may bind it." },
  { path: ["allowFrom"], label: "Homeservers’ addresses", kind: "list", mono: true, placeholder: "203.0.113.0/24", hint: "Without any: from anywhere." },
  { path: ["retired"], label: "Retired: homeservers are told to forget its pushkeys", kind: "checkbox", usual: false },
];

/** `namespaces` of Ably: those with push on, by their names; what else is said of one stays. */
const NAMESPACES = {
  path: ["namespaces"], label: "Channels with push: namespaces", kind: "list", mono: true, placeholder: "pushenabled, *",
  hint: "What stands before the first “:” of a channel’s name; * is every other channel. Push is off elsewhere.",
  show: (value) => Object.entries(value ?? {}).filter(([, rule]) => rule?.push === true).map(([namespace]) => namespace).join(", "),
  take: (text, value) => {
    const on = text.split(/[,\s]+/).filter(Boolean);
    const others = Object.entries(value ?? {}).filter(([namespace, rule]) => rule?.push !== true && !on.includes(namespace));
    const rules = [...on.map((namespace) => [namespace, { ...value?.[namespace], push: true }]), ...others];
    return rules.length > 0 ? Object.fromEntries(rules) : undefined;
  },
};

const ISSUER = (member, label, rest) => ({ path: ["issuers", 0, member], label: `Apps’ tokens: ${label}`, mono: true, ...rest });

/**
 * `id` in the API; `title`, `text`; `address(origin, name)` where its clients connect; `nameLabel`, `nameHint`, `only` the one name
 * that there is; `isPrivate`: admins bind its names themselves; `unless`: which of them;
 * `start` of a new document; `fields` for `documentForm`; `keys`: how rights are said, see `rights.js`, or null.
 */
export const faces = [
  {
    id: "matrix", title: "Matrix", text: "A Push Gateway for homeservers such as Synapse, in the place of Sygnal.",
    address: (origin) => `${origin}/_matrix/push/v1/notify`,
    nameLabel: "App id", nameHint: "As the app names itself to its homeserver, or how it begins and a *.", namePlaceholder: "org.acme.ios",
    unless: "One that is taken only with a gateway key of this network you can bind yourself.",
    start: { provider: "apns" }, fields: MATRIX,
    keys: { title: "Gateway keys", rights: "none", note: "Stand in the address that an app gives to its homeserver.",
      use: (origin, { secret }) => secret && `${origin}/_matrix/push/v1/notify?k=${encodeURIComponent(secret)}` },
  },
  {
    id: "ably", title: "Ably", text: "Devices, subscriptions and publishing of Ably’s SDKs.",
    address: (origin) => origin,
    nameLabel: "App id", nameHint: "What stands before the dot in the names of its keys.", namePlaceholder: "app1",
    start: {}, fields: [app("ios", "iOS"), environment("ios"), app("android", "Android"), NAMESPACES],
    keys: { title: "Keys", rights: "capability", nameHint: "The app id, a dot and a word: app1.phones.", note: "What SDKs and back ends sign in with: name and secret." },
  },
  {
    id: "amity", title: "Amity", text: "Devices and settings of Amity’s, once Upstra’s, SDKs.",
    address: (origin) => origin,
    nameLabel: "Name", nameHint: "There is one: default. Apps’ keys find the network.", only: "default", isPrivate: true,
    start: { requireUserToken: true },
    fields: [app("ios", "iOS"), environment("ios"), app("android", "Android"),
      { path: ["requireUserToken"], label: "Only who proves to be a user registers devices for them", kind: "checkbox", usual: true }],
    keys: { title: "Keys", rights: "device", note: "The API keys that apps carry: a key finds the network." },
  },
  {
    id: "buzz", title: "Buzz", text: "Registration of Buzz’s apps; their pushes come by Matrix.",
    address: (origin) => `${origin}/api/MobilePhoneNotificationToken`,
    nameLabel: "Application id", nameHint: "As the app registers with it.", namePlaceholder: "com.namaka.buzzclient.custom",
    start: {}, fields: [app("ios", "iOS", { hint: "Without it: the application id." }), app("android", "Android", { hint: "Without it: the application id." })],
    keys: null,
  },
  {
    id: "imfpush", title: "MobileFirst", text: "The push service of MobileFirst’s apps and back ends.",
    address: (origin, name = "…") => `${origin}/imfpush/v1/apps/${encodeURIComponent(name)}`,
    nameLabel: "Application id", nameHint: "As it stands in the paths of its requests.", namePlaceholder: "com.acme.bank",
    start: {},
    fields: [app("A", "iOS"), environment("A"), app("G", "Android"),
      { path: ["G", "senderId"], label: "Android: sender id", mono: true, hint: "Apps ask for it before they register." },
      ISSUER("iss", "issuer", { hint: "Of the server that apps sign in to." }),
      ISSUER("publicKey", "public key in PEM", { kind: "lines", rows: 5, placeholder: "-----BEGIN PUBLIC KEY-----" }),
      ISSUER("userIdClaim", "claim with the user’s id", { placeholder: "sub" })],
    keys: { title: "Clients", rights: "scopes", nameHint: "The client id. Without one, one is made.", note: "Back ends by name and secret; older apps by a secret in a header." },
  },
];

/** The face of an id; undefined where there is none. */
export function faceOf(id) {
  return faces.find((face) => face.id === id);
}
