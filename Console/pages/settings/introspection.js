/**
 * Whom the network asks about user tokens that are none of Carillon's.
 */

import { fill, h } from "../../core/dom.js";
import { confirm } from "../../components/dialog.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { toast } from "../../components/toast.js";
import { isAbort } from "../../core/api.js";
import { part } from "./part.js";

const FIELDS = [
  { path: ["url"], label: "Address", mono: true, placeholder: "https://chat.example.org/me" },
  { path: ["userIdPointer"], label: "Where the user’s id stands in its answer", mono: true, placeholder: "/id", hint: "A JSON Pointer." },
  { path: ["cacheSeconds"], label: "An answer holds for (s)", kind: "number" },
];

/** @param {object} page */
export async function introspectionSection(page) {
  const path = page.path("user-token-introspection");
  const options = { signal: page.signal };
  const trouble = h("div");
  const place = h("div");
  const known = await page.api.get(path, options).then(({ data }) => data, (error) => {
    if (error.status === 404) return null;
    throw error;
  });

  function show(value) {
    fill(place, part({
      label: "Foreign user tokens", fields: FIELDS, value: value ?? {},
      others: (saved) => (saved.url ? [h("button", { class: "button danger quiet", type: "button", on: { click: forget } }, "Ask nobody")] : []),
      save: async (wanted) => (await page.api.put(path, wanted, options)).data,
    }));
  }

  async function forget() {
    const isSure = await confirm({ title: "Ask nobody about foreign tokens?", text: "Users whose tokens only that server knows are refused from then on.",
      act: "Ask nobody", danger: true });
    if (!isSure) return;
    try {
      await page.api.delete(path, options);
      fill(trouble);
      show(null);
      toast("Nobody is asked.", { kind: "good" });
    } catch (error) {
      if (!isAbort(error)) fill(trouble, problem(error, { compact: true }));
    }
  }

  show(known);
  return section({ title: "Foreign user tokens", note: "A server of yours that says whose a token is which Carillon cannot read. Nobody is asked unless one is named." },
    trouble, place);
}
