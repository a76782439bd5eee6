/**
 * The dialects: whose webhooks they are, where one enters the address there, and by what a post proves where it comes from.
 */

const IGNORE_SENDERS = { path: ["ignoreSenders"], label: "Senders whose messages are ignored", kind: "list", mono: true,
  hint: "Ids with commas between them: bots, for instance." };

/**
 * `id` in the API; `title`; `text`; `proof`: "secrets", "basic" or "both"; `secret`: what theirs is called; `warning` about it;
 * `steps` in their console, after which the address is entered; `types` of bodies, when not only JSON; `fields` for `documentForm`.
 */
export const dialects = [
  {
    id: "amity", title: "Amity", text: "Amity Social Cloud (social.plus): events and push-notification webhooks.",
    proof: "secrets", secret: "Webhook secret",
    steps: ["In the Amity console, make a webhook and enter the address.", "Its secret key is the secret here."],
    fields: [IGNORE_SENDERS],
  },
  {
    id: "stream", title: "Stream", text: "GetStream’s Chat.",
    proof: "secrets", secret: "API secret",
    warning: "Stream signs with the app’s API secret, which may do everything in that app.",
    steps: ["In Stream’s dashboard, enter the address as an event hook of the app, for the events of channels, members, messages and users.",
      "The app’s API secret is the secret here."],
    fields: [{ path: ["channelId"], label: "Channels are called by", kind: "select", options: [
      { value: "", label: "usual (cid)" },
      { value: "cid", label: "cid: type and id, as messaging:general" },
      { value: "id", label: "id: where no two types share one" },
    ] }, IGNORE_SENDERS],
  },
  {
    id: "sendbird", title: "Sendbird", text: "Sendbird’s Chat, group and open channels.",
    proof: "secrets", secret: "Master API token",
    warning: "Sendbird signs with the application’s master API token, which may do everything in that application.",
    steps: ["In Sendbird’s dashboard, switch webhooks on for the application, enter the address and choose the events.",
      "The master API token is the secret here."],
    fields: [{ path: ["openChannelPresence"], label: "Who enters and leaves open channels joins and leaves them", kind: "checkbox", usual: false,
      hint: "There may be thousands an hour." },
    { path: ["adminMessages"], label: "Admin messages are told, too", kind: "checkbox", usual: false,
      hint: "The application itself says them; Sendbird’s own pushes leave them out." }, IGNORE_SENDERS],
  },
  {
    id: "cloudevents", title: "CloudEvents", text: "CloudEvents 1.0 over HTTP, and Twilio’s Event Streams.",
    proof: "both", secret: "Twilio auth token",
    steps: ["Enter the address as the subscription’s or sink’s, with user and password.", "Of Twilio, the auth token is the secret here."],
    types: ["application/cloudevents+json", "application/cloudevents-batch+json", "application/json"],
    fields: [{ path: ["publicUrl"], label: "This service’s own address, as Twilio calls it", type: "url", mono: true,
      placeholder: "https://push.example.org", hint: "Without the path: Twilio signs the whole address." }, IGNORE_SENDERS],
  },
  {
    id: "cometchat", title: "CometChat", text: "CometChat’s messages and groups.",
    proof: "basic",
    steps: ["In CometChat’s dashboard, make a webhook with the address.", "Switch basic authentication on, with the user and password that are set here."],
    fields: [IGNORE_SENDERS],
  },
  {
    id: "talkjs", title: "TalkJS", text: "TalkJS’s messages and conversations.",
    proof: "secrets", secret: "Secret key",
    steps: ["In TalkJS’s dashboard, enter the address in the settings of webhooks.", "The app’s secret key is the secret here."],
    fields: [IGNORE_SENDERS],
  },
  {
    id: "matrix", title: "Matrix", text: "A homeserver’s rooms, with Carillon as its application service.",
    proof: "secrets", secret: "hs_token",
    steps: ["The address is url in the registration file.", "The file’s hs_token is the secret here; namespaces say what is sent."],
    fields: [{ path: ["ignoreEncrypted"], label: "Ignore encrypted messages", kind: "checkbox", usual: false },
      { path: ["ignoreProfiles"], label: "Ignore changes of names, which are of one room only", kind: "checkbox", usual: false }, IGNORE_SENDERS],
  },
  {
    id: "rocketchat", title: "Rocket.Chat", text: "Outgoing integrations of Rocket.Chat.",
    proof: "secrets", secret: "Integration token",
    steps: ["Make an outgoing integration for each event. Its address ends in ?event= and the event’s name, such as sendMessage.",
      "The integration’s token is the secret here."],
    fields: [{ path: ["ignoreBots"], label: "Ignore bots", kind: "checkbox", usual: false }, IGNORE_SENDERS],
  },
  {
    id: "mattermost", title: "Mattermost", text: "Outgoing webhooks of Mattermost: messages in public channels.",
    proof: "secrets", secret: "Webhook token",
    steps: ["Make an outgoing webhook with the address as its callback.", "Its token is the secret here."],
    types: ["application/json", "application/x-www-form-urlencoded"],
    fields: [IGNORE_SENDERS],
  },
];

/** The dialect of an id; undefined where there is none. */
export function dialectOf(id) {
  return dialects.find((dialect) => dialect.id === id);
}
