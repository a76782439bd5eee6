/**
 * What a network says of itself: its name, who may register devices, and how much it may use up.
 */

import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { notice } from "../../components/notice.js";
import { facts, section } from "../../components/page.js";
import { part, patchOf } from "./part.js";
import { placementSection } from "./placement.js";

const NAME = [
  { path: ["displayName"], label: "Name", maxlength: "1000" },
  { path: ["defaultLocale"], label: "Language", mono: true, maxlength: "35", hint: "Of those who have not said theirs. A tag such as en, th or pt-BR." },
];

const REGISTRATION = [
  { path: ["deviceRegistration"], label: "Who may register a device", kind: "select", options: [
    { value: "userToken", label: "whoever proves who the user is (userToken)" },
    { value: "appKey", label: "whoever has the app’s key (appKey)" },
  ], hint: "With appKey anybody with the app’s key can register for anybody, and so read anybody’s notifications." },
  { path: ["userTokenMaxLifetimeSeconds"], label: "A user’s token holds for at most (s)", kind: "number" },
  { path: ["webPushHosts"], label: "Push services that browsers may name", kind: "list", mono: true,
    hint: "default stands for Google’s, Mozilla’s, Apple’s and Microsoft’s; others by name, *.example.org, or * for all." },
];

/** Limits by their path, and what they count. */
const LIMITS = [
  [["devicesPerUser"], "Devices of a user"],
  [["channelsPerUser"], "Channels that a user has switches for"],
  [["templates"], "Templates of its own"],
  [["webhookHosts"], "Hosts of webhook devices"],
  [["tags"], "Declared tags"],
  [["tagsPerSubscriber"], "Tags of a user or device"],
  [["ownerlessDevices"], "Devices that are nobody’s"],
  [["eventsPerSecond"], "Events a second"],
  [["requestsPerSecond", "user"], "Requests a second by a user"],
  [["requestsPerSecond", "app"], "Requests a second by an app’s key"],
];

const pick = (network, fields) => Object.fromEntries(fields.map(({ path: [member] }) => [member, network[member]]));

/** The parts of what a network says of itself. */
export function networkSections(page, network) {
  const makePart = (label, fields) => part({ label, fields, value: pick(network, fields), save: async (wanted, before) => {
    const { data } = await page.api.patch(page.path(), patchOf(before, wanted), { signal: page.signal });
    page.renamed(data.displayName);
    return pick(data, fields);
  } });
  return [
    section({ title: "Name and language" }, makePart("Name and language", NAME)),
    placementSection(page, network),
    section({ title: "Devices", note: "Subscriptions that are there already stay." }, makePart("Devices", REGISTRATION)),
    section({ title: "Limits", note: "How much of the service this network may use up." },
      page.role === "operator" ? makePart("Limits", LIMITS.map(([path, label]) => ({ path: ["limits", ...path], label, kind: "number" })))
        : [facts(LIMITS.map(([path, label]) => [label, limitInWords(path.reduce((inner, key) => inner?.[key], network.limits))])),
          notice("info", "Whoever runs the service changes them.")]),
  ];
}

function limitInWords(value) {
  return value === null || value === undefined ? h("span", { class: "muted" }, "any number") : number(value);
}
