/**
 * Small pictures, drawn with the text's colour. They are never the only name of anything.
 */

import { s } from "../core/dom.js";

const PATHS = {
  overview: "M2.5 13.5h11M4 11V8M8 11V3M12 11V6",
  switches: "M5 4.5h6a3.5 3.5 0 0 1 0 7H5a3.5 3.5 0 0 1 0-7zM11 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
  events: "M2 8h3l2-5 3 10 2-5h2",
  posts: "M2 8.500h3.500l1 2h3l1-2H14M4 2.500h8l2 6v5H2v-5z",
  people: "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-2.600 2.400-4 5-4s4.5 1.400 5 4",
  channels: "M6 2.5 4.5 13.5M11.5 2.5 10 13.5M2.5 6h11M2.500 10h11",
  send: "M2 3l12 5-12 5 2-5zM4 8h5",
  tags: "M2.500 2.500H8l6 6-5.500 5.500-6-6zM5.500 5.500v.1",
  sources: "M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0zM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0",
  import: "M8 2v7.500M4.800 6.500 8 9.700l3.200-3.200M2.500 10v3.500h11V10",
  templates: "M3 4V2.5h10V4M8 2.5v11M6 13.5h4",
  providers: "M14 2 7 9M14 2l-4.5 12L7 9 2 6.5z",
  endpoints: "M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3.200 3.200 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3.200 3.200 0 0 1 3 8.5L4.5 7",
  faces: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6 6v1M10 6v1M5.500 9.500a3 3 0 0 0 5 0",
  dialects: "M2 3h12v8H7l-3 2.500V11H2zM5 6h6M5 8.300h4",
  "dead-letters": "M2 4h12v8.5H2zM2 4.5 8 9l6-4.5",
  keys: "M5.5 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.700 7.800 13.5 2M11 4.5l2 2",
  settings: "M2 5h7M13 5h1M2 11h1M7 11h7M11 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5 13a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  try: "M4.5 2.800v10.400L13 8z",
  networks: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z",
  placements: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5v.1M5 11v.1",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  back: "M10 3 5 8l5 5",
  forward: "M6 3l5 5-5 5",
  down: "M3 6l5 5 5-5",
  leave: "M6 2.5H3v11h3M10 11l3-3-3-3M13 8H6",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5l3.5 3.5L13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.600 10.600 14 14",
  refresh: "M13.5 8a5.5 5.5 0 1 1-1.600-3.900M13.5 2v3h-3",
  warning: "M8 2.200 14.5 13.5h-13zM8 6.5v3.200M8 11.700v.1",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.200l2 1.300",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  upload: "M8 10.5v-8M4.800 5.5 8 2.300l3.200 3.200M2.5 10v3.5h11V10",
  trash: "M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.600L12 4",
  lock: "M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  bell: "M3.5 11.5C4.700 10.300 5 9 5 7a3 3 0 0 1 6 0c0 2 .3 3.300 1.5 4.5zM7 13.800h2",
};

/** @param {keyof typeof PATHS} which */
export function icon(which) {
  return s("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    s("path", { d: PATHS[which] ?? PATHS.events }));
}

/** The brand's picture. */
export function bell() {
  return s("svg", { class: "brand-icon", viewBox: "0 0 64 64", "aria-hidden": "true", focusable: "false" },
    s("rect", { width: "64", height: "64", rx: "14" }),
    s("path", { d: "M14 15h36M32 15v5M20 41c3-3 4-7 4-12a8 8 0 0 1 16 0c0 5 1 9 4 12zM31 48h2" }));
}
