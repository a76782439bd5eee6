/**
 * The pages of a network: what stands in the menu, in its order. A page is a module `pages/NAME.js` at the address
 * `/console/NETWORK/NAME`; `detail` names the module of what lies below it, `/console/NETWORK/NAME/ID`.
 */
export const groups = [
  [
    { name: "overview", title: "Overview" },
    { name: "switches", title: "Switches" },
  ],
  [
    { name: "events", title: "Events", detail: "event" },
    { name: "posts", title: "Recent posts" },
    { name: "people", title: "People", detail: "person" },
    { name: "channels", title: "Channels", detail: "channel" },
    { name: "templates", title: "Templates" },
    { name: "send", title: "Send" },
    { name: "tags", title: "Tags" },
  ],
  [
    { name: "providers", title: "Providers" },
    { name: "endpoints", title: "Your servers" },
    { name: "faces", title: "Other systems' apps" },
    { name: "dialects", title: "Other chat back ends" },
    { name: "sources", title: "Sources" },
    { name: "dead-letters", title: "Dead letters" },
  ],
  [
    { name: "keys", title: "Keys" },
    { name: "import", title: "Import" },
    { name: "settings", title: "Settings" },
    { name: "try", title: "Try it" },
  ],
];

export const pages = new Map(groups.flat().map((page) => [page.name, page]));

/** What a page is called, in the menu and wherever something leads to it. */
export const titleOf = (name) => pages.get(name).title;
