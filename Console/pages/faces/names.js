/**
 * The names of a face that belong to the network, with their settings.
 */

import { fill, h } from "../../core/dom.js";
import { confirm, openDialog } from "../../components/dialog.js";
import { documentForm, settingInWords } from "../../components/document.js";
import { field, showMistakes } from "../../components/field.js";
import { icon } from "../../components/icon.js";
import { code, name } from "../../components/name.js";
import { notice } from "../../components/notice.js";
import { section } from "../../components/page.js";
import { problem } from "../../components/problem.js";
import { listing } from "../../components/table.js";
import { time } from "../../components/time.js";
import { toast } from "../../components/toast.js";

const PAGE = 200;
const NEW_IS_THE_OPERATORS = "A new name is bound by the operator: whoever claims somebody else’s would receive their tokens and messages. " +
  "Its settings and keys are yours to change afterwards.";

/** All bindings of the network, or those of one face: a face has 200 at the most. */
export async function bindings(page, face) {
  const items = [];
  for await (const part of page.api.list(page.path("faces"), { face, limit: PAGE }, { signal: page.signal })) items.push(...part.items);
  return items;
}

/** What was said of a binding: the item without what the service says of it. */
function settingsOf({ face, externalId, updatedAt, ...settings }) {
  return settings;
}

/**
 * @param {object} page
 * @param {object} face of the catalogue
 */
export function namesSection(page, face) {
  const options = { signal: page.signal };
  const isTheOperators = page.role !== "operator" && !face.isPrivate;
  const list = listing({
    caption: "Bound names",
    noun: "name",
    rowKey: ({ externalId }) => externalId,
    load: async () => ({ items: await bindings(page, face.id) }),
    onChange: (items) => {
      add.hidden = face.only !== undefined && items.length > 0;
    },
    empty: { title: "No name is bound", text: `${face.nameHint}${isTheOperators ? " The operator binds new ones." : ""}`, picture: "faces" },
    columns: [
      { title: face.nameLabel, cell: ({ externalId }) => code(externalId, { longest: 80 }) },
      { title: "Settings", wide: true, cell: (item) => name(settingInWords(settingsOf(item)), { longest: 120 }) },
      { title: "Changed", cell: ({ updatedAt }) => time(updatedAt) },
      { title: "Actions", hideTitle: true, cell: (item) => h("span", { class: "row-actions" },
        h("button", { class: "button small quiet", type: "button", on: { click: () => edit(item) } }, "Change",
          h("span", { class: "visually-hidden" }, " ", name(item.externalId, { longest: 60 }))),
        h("button", { class: "button small quiet", type: "button", on: { click: () => remove(item) } }, "Remove",
          h("span", { class: "visually-hidden" }, " ", name(item.externalId, { longest: 60 })))) },
    ],
  });
  const add = h("button", { class: "button primary", type: "button", on: { click: () => edit() } }, icon("plus"), "Bind a name");

  async function edit(item) {
    const external = field({ label: face.nameLabel, name: "externalId", value: face.only, hint: face.nameHint, placeholder: face.namePlaceholder,
      mono: true, required: true, maxlength: "256", readonly: face.only !== undefined });
    const settings = documentForm({ fields: face.fields, value: item ? settingsOf(item) : face.start });
    const trouble = h("div", { class: "form-trouble" });

    async function save() {
      fill(trouble);
      const externalId = item ? item.externalId : external.value.trim();
      const known = list.items.some((each) => each.externalId === externalId);
      if (!item && (!externalId || known)) {
        external.setError(known ? "This network has it already: change it where it stands." : "This is needed.");
        external.input.focus();
        return false;
      }
      const document = settings.value;
      if (!document) return false;
      try {
        return (await page.api.put(page.path("faces", face.id, externalId), document, options)).data ?? true;
      } catch (error) {
        if (error.status === 403) return explain(error, NEW_IS_THE_OPERATORS);
        if (showMistakes([external, ...settings.fields].filter((each) => each.isConnected), error)) return false;
        if (error.problem?.type === "/problems/name-taken") {
          external.setError("Another network has this name.");
          external.input.focus();
          return explain(error);
        }
        throw error;
      }
    }

    function explain(error, words) {
      fill(trouble, words && notice("warn", words), problem(error, { compact: true }));
      return false;
    }

    const isSaved = await openDialog({
      title: item ? ["Settings of ", name(item.externalId, { longest: 80 })] : `Bind a name of ${face.title}`,
      wide: true,
      body: [
        !item && isTheOperators && notice("info", NEW_IS_THE_OPERATORS, face.unless && ` ${face.unless}`),
        h("form", { class: "form", novalidate: true }, !item && external, settings, trouble),
      ],
      actions: [{ label: "Cancel", kind: "quiet" }, { label: item ? "Save" : "Bind it", kind: "primary", run: save }],
    });
    if (!isSaved) return;
    toast(item ? "Saved." : "The name is bound.", { kind: "good" });
    await list.reload();
  }

  async function remove(item) {
    const agreed = await confirm({
      title: "Remove this name?",
      text: [h("p", null, code(item.externalId, { longest: 120 }), " is no longer answered for this network, and its settings are forgotten."),
        isTheOperators && h("p", null, "Only the operator can bind it again.")],
      act: "Remove",
      danger: true,
    });
    if (!agreed) return;
    try {
      await page.api.delete(page.path("faces", face.id, item.externalId), options);
    } catch (error) {
      if (page.signal.aborted) return;
      if (error.status !== 404) {
        await openDialog({ title: "It was not removed", body: problem(error), actions: [{ label: "Close", kind: "primary" }] });
        return;
      }
    }
    list.setItems(list.items.filter((each) => each.externalId !== item.externalId));
    toast("The name is removed.", { kind: "good" });
  }

  return section({ title: "Names", note: "What its clients call this network.", flush: true, actions: [add] }, list);
}
