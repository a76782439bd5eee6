/**
 * One user: switches and who would win, channels, devices, and Why?
 */

import { h } from "../core/dom.js";
import { badge } from "../components/badge.js";
import { copyButton } from "../components/copy.js";
import { empty } from "../components/empty.js";
import { code, name } from "../components/name.js";
import { pageView, section } from "../components/page.js";
import { tabs } from "../components/tabs.js";
import { channelsTab } from "./people/channels.js";
import { devicesTab } from "./people/devices.js";
import { switchesTab } from "./people/switches.js";
import { whyTab } from "./people/why.js";

export const styles = ["notification", "toggles", "people"];

/** The user's id, for the window's title. */
export function title(page) {
  return page.params.id;
}

export async function render(page) {
  const id = page.params.id;
  let user;
  try {
    ({ data: user } = await page.api.get(page.path("users", id), { signal: page.signal }));
  } catch (error) {
    if (error.status === 404) return nobody(page, id);
    throw error;
  }
  const views = [
    { id: "switches", title: "Switches", render: () => switchesTab(page, user) },
    { id: "channels", title: "Channels", render: () => channelsTab(page, user, (channel) => {
      page.setQuery({ channel });
      view.select("switches");
    }) },
    { id: "devices", title: "Devices", render: () => devicesTab(page, user) },
    { id: "why", title: "Why?", render: () => whyTab(page, user) },
  ];
  const view = tabs({ label: "About this user", tabs: views, selected: page.query.tab,
    onSelect: (tab) => page.setQuery({ tab: tab === "switches" ? null : tab }) });
  return pageView({
    title: name(user.displayName ?? id, { longest: 80 }),
    back: { href: page.href("people"), label: "People" },
    lead: h("span", { class: "person-facts" },
      h("span", { class: "person-id" }, code(id, { longest: 80 }), copyButton(id, "user id")),
      user.locale && h("span", null, "reads ", h("code", null, user.locale)),
      user.roles.map((role) => badge(role))),
  }, view);
}

function nobody(page, id) {
  return pageView({ title: name(id, { longest: 80 }), back: { href: page.href("people"), label: "People" } },
    section({}, empty({ title: "There is no such user", picture: "people",
      text: "They may have been removed, or nothing has named them yet: users are learnt from events, imports and devices." })));
}
