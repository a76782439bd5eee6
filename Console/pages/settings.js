/**
 * Settings: what the network is called, who may register devices, how much it may use up, and its end.
 */

import { titleOf } from "../core/pages.js";
import { pageView } from "../components/page.js";
import { introspectionSection } from "./settings/introspection.js";
import { networkSections } from "./settings/network.js";
import { removalSection } from "./settings/removal.js";

export const title = titleOf("settings");
export const styles = ["documents", "steps"];

/** @param {object} page */
export async function render(page) {
  const [{ data: network }, introspection] = await Promise.all([
    page.api.get(page.path(), { signal: page.signal }), introspectionSection(page),
  ]);
  return pageView({ title, lead: "What holds for the whole network. What is left empty is as it is by default." },
    networkSections(page, network), introspection, page.role === "operator" && removalSection(page));
}
