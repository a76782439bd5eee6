/**
 * Whom a direct notification is for, and how many they are.
 */

import { count } from "../../core/format.js";

const PAGE_SIZE = 1000;
/** Beyond so many nobody is counted any more. */
const MOST_COUNTED = 10_000;

/** Whom it may be for, by the member of `to`. */
export const AUDIENCES = {
  userIds: { option: "Users", label: "Users", placeholder: "alice, bob", hint: "Ids with commas between them.", list: "users", isMany: true },
  channelId: { option: "The members of a channel", label: "Channel", placeholder: "An id or a name", list: "channels" },
  tags: { option: "Whoever subscribes to a tag", label: "Tags", placeholder: "beta", hint: "With commas between them: whoever subscribes to any of them.", isMany: true },
  deviceIds: { option: "Devices", label: "Devices", hint: "Ids with commas between them.", isMany: true },
  everyone: { option: "Everyone", label: "Everyone" },
};

/** Reads a list until it is over or long enough; `see` hears of each item. */
async function readAll(page, path, signal, see) {
  let seen = 0;
  for await (const { items } of page.api.list(path, { limit: PAGE_SIZE }, { signal })) {
    items.forEach(see);
    seen += items.length;
    if (seen >= MOST_COUNTED) return;
  }
}

function words(number, one, many) {
  return number >= MOST_COUNTED ? `${count(MOST_COUNTED, one, many)} or more` : count(number, one, many);
}

/**
 * How many an audience is, and one of them for whom it can be asked what they would get.
 * @param {object} page
 * @param {object} to as the API takes it
 * @param {{signal: AbortSignal}} options
 * @returns {Promise<{words: string, isNobody: boolean, user: string|null}>}
 */
export async function measure(page, to, { signal }) {
  const users = new Set();
  const devices = new Set(to.deviceIds ?? []);
  if (to.userIds) to.userIds.forEach((id) => users.add(id));
  if (to.channelId !== undefined) {
    await readAll(page, page.path("channels", to.channelId, "members"), signal, ({ userId }) => users.add(userId)).catch((error) => {
      // A channel that is not known has no members.
      if (error.status !== 404) throw error;
    });
  }
  if (to.everyone) await readAll(page, page.path("users"), signal, ({ id }) => users.add(id));
  for (const tag of to.tags ?? []) {
    await readAll(page, page.path("tags", tag, "subscribers"), signal, ({ userId, deviceId }) => (userId ? users.add(userId) : devices.add(deviceId)));
  }
  const [user = null] = users;
  const said = [users.size > 0 && words(users.size, "user"), devices.size > 0 && words(devices.size, "device")].filter(Boolean).join(" and ");
  const isNobody = !said && !to.everyone;
  if (to.everyone) return { words: `${words(users.size, "user")}, and devices that are nobody’s`, isNobody, user };
  return { words: said || "nobody", isNobody, user };
}
