/**
 * What the events that have templates are made of, and samples of them.
 */

export const EVENT_TYPES = ["message.sent", "member.joined", "channel.created", "channel.invited"];

/** What is neither text nor a picture: a template without words for it uses those of `other`. */
const SPECIAL = ["poll", "location", "file", "encrypted", "sticker", "call"];

const TITLE_VARIANTS = ["channel", "direct"];

/** Arguments and variants of each event, as the service knows them. */
export const KINDS = {
  "message.sent": {
    title: { variants: TITLE_VARIANTS, arguments: ["user", "channel"] },
    body: { variants: ["text", "image", "other", ...SPECIAL], arguments: ["message"] },
  },
  "member.joined": {
    title: { variants: TITLE_VARIANTS, arguments: ["user", "channel", "count"] },
    body: { variants: ["one", "many"], arguments: ["user", "channel", "count"] },
  },
  "channel.created": {
    title: { variants: TITLE_VARIANTS, arguments: ["channel"] },
    body: { variants: [], arguments: ["channel"] },
  },
  "channel.invited": {
    title: { variants: TITLE_VARIANTS, arguments: ["user", "channel"] },
    body: { variants: TITLE_VARIANTS, arguments: ["user", "channel"] },
  },
};

const ARGUMENTS = {
  user: ["User’s name", "{{UserDisplayName}}"],
  channel: ["Channel’s name", "{{ChannelName}}"],
  message: ["Message", "{{Message}}"],
  count: ["How many more", null],
};

/** The placeholders that a part of a template may have: by position, and those by name that the event has anywhere. */
export function placeholders(type, part) {
  const positional = KINDS[type][part].arguments.map((argument, index) => ({
    text: `%${index + 1}s`,
    words: ARGUMENTS[argument][0],
  }));
  const here = new Set(KINDS[type][part].arguments);
  const named = [...new Set([...KINDS[type].title.arguments, ...KINDS[type].body.arguments])]
    .filter((argument) => !here.has(argument) && ARGUMENTS[argument][1])
    .map((argument) => ({ text: ARGUMENTS[argument][1], words: ARGUMENTS[argument][0] }));
  return [...positional, ...named];
}

const VARIANTS = {
  one: "One joined",
  many: "Several joined",
  text: "Text",
  image: "Image",
  other: "Anything else",
  poll: "Poll",
  location: "Location",
  file: "File",
  encrypted: "Encrypted",
  sticker: "Sticker",
  call: "Call",
  channel: "Channel",
  direct: "Conversation of two, or without a name",
};

/** `Several joined` for `many` */
export function variantName(variant) {
  return VARIANTS[variant] ?? variant;
}

const LONG =
  "The bells of the tower rang all afternoon, first the smallest, then the rest, and anybody who walked across the square stopped for a moment, looked up and went on slower than before; nobody could say afterwards which of the melodies it had been, or who had played it, or why they had smiled about it.";

/** Names and texts that go wrong where something is made wrongly. */
export const SAMPLES = [
  { id: "plain", name: "Everyday", user: "Alice", channel: "General", text: "Hello! Lunch at twelve?" },
  { id: "placeholder", name: "Names like %2s", user: "%2s", channel: "{{Message}}", text: "100 % of %1s, and {{ChannelName}}" },
  { id: "rtl", name: "Right to left", user: "ليلى", channel: "الأصدقاء", text: "مرحبًا! هل نلتقي الساعة 12؟" },
  { id: "long", name: "300 characters", user: "Maximiliane Konstantinopolitanskaya-Featherstonehaugh",
    channel: "Everything that happens on the third floor", text: LONG },
  { id: "markup", name: "Markup", user: "<b>Bob</b>", channel: "a & b", text: "<img src=x onerror=alert(1)>\nsecond line" },
];

/**
 * An event for the preview.
 * @param {string} type
 * @param {object} sample one of `SAMPLES`
 * @param {{title: string, body: string}} variants which of them is to be seen
 */
export function sampleEvent(type, sample, variants) {
  const channel = { id: "sample-channel", displayName: sample.channel, direct: variants.title === "direct" };
  const user = { id: "sample-user", displayName: sample.user };
  if (type === "channel.created") return { data: { channel, members: ["sample-reader"] } };
  if (type === "channel.invited") {
    if (variants.body === "direct") channel.displayName = null;
    return { data: { channel, user, invited: ["sample-reader"] } };
  }
  if (type === "member.joined") {
    const others = [{ id: "sample-2", displayName: "Carol" }, { id: "sample-3", displayName: "Dave" }];
    return { data: { channel, members: variants.body === "many" ? [user, ...others] : [user] } };
  }
  const kind = SPECIAL.includes(variants.body) ? { kind: variants.body } : {};
  const message = { id: "sample-message", type: variants.body || "text", text: sample.text, ...kind };
  return { data: { channel, user, message } };
}
