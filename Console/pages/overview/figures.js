/**
 * A chart with its numbers as a table beside it.
 */

import { h, fill } from "../../core/dom.js";
import { clockTime, dayOf, number } from "../../core/format.js";
import { chart, swatch } from "../../components/chart.js";
import { section } from "../../components/page.js";

const sum = (values) => values.reduce((all, value) => all + (value ?? 0), 0);

/**
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.note what is counted, in words
 * @param {(stats) => Array<{name: string, cells: Array<{values: number[], tone?: string|number, down?: boolean}>}>} what.rows
 *   of the table; cells with a `tone` are drawn
 * @param {string[]} what.columns titles of the cells
 * @param {(values: number[]) => string} [what.total] of a cell over the whole span; the sum unless said otherwise
 * @param {(value: number) => string} [what.format]
 * @param {boolean} [what.lines]
 * @param {string} what.nothing said where there are no rows
 * @returns {HTMLElement & {update: (stats) => void}}
 */
export function figures({ title, note, rows: rowsOf, columns, total = (values) => number(sum(values)), format = number, lines, nothing, wide }) {
  const picture = chart(null);
  const head = h("th", { scope: "col" });
  const body = h("tbody");
  const table = h("table", { class: ["figures", columns.length > 3 && "many"] }, h("caption", { class: "visually-hidden" }, title),
    h("thead", null, h("tr", null, head, columns.map((column) => h("th", { scope: "col", class: "numeric" }, column)))), body);
  const every = h("details", { class: "every", on: { toggle: () => showEvery() } }, h("summary", null, "Every number"));
  const everyPlace = h("div", { class: "every-numbers", tabindex: "0", role: "group", "aria-label": `${title}: every number` });
  every.append(everyPlace);
  let shown = null;
  let pointed = null;

  function label(at) {
    return shown.stats.span.value === "week" ? dayOf(at) : clockTime(at);
  }

  function longLabel(at) {
    return shown.stats.span.value === "week" ? `${dayOf(at)} ${clockTime(at)}` : clockTime(at);
  }

  const inWords = (rows) => rows.map((row) => `${row.name} ${total(row.cells[0].values)}`).join(", ") || nothing;

  function showNumbers() {
    const { rows, stats } = shown;
    head.textContent = pointed === null ? `In ${stats.span.words}` : longLabel(stats.at[pointed]);
    const text = (cell) => {
      if (pointed === null) return total(cell.values);
      const value = cell.values[pointed];
      return value === null ? "–" : format(value);
    };
    if (rows.length === 0) return fill(body, h("tr", null, h("td", { class: "muted", colspan: columns.length + 1 }, nothing)));
    fill(body, rows.map((row) => h("tr", null,
      h("th", { scope: "row" }, row.cells.filter((cell) => cell.tone).slice(0, 1).map((cell) => swatch(cell.tone)), row.name),
      row.cells.map((cell) => h("td", { class: "numeric" }, text(cell))))));
  }

  function showEvery() {
    if (!every.open || !shown) return;
    const { rows, stats } = shown;
    const titles = rows.flatMap((row) => row.cells.map((cell, index) => (columns.length > 1 ? `${row.name}: ${columns[index]}` : row.name)));
    const cells = rows.flatMap((row) => row.cells);
    fill(everyPlace, h("table", { class: "figures" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "From"), titles.map((each) => h("th", { scope: "col", class: "numeric" }, each)))),
      h("tbody", null, stats.at.map((at, index) => h("tr", null, h("th", { scope: "row" }, longLabel(at)),
        cells.map((cell) => h("td", { class: "numeric" }, cell.values[index] === null ? "–" : format(cell.values[index]))))))));
  }

  const element = section({ title, note, class: wide && "span" }, h("div", { class: "figures-row" }, picture, table), every);
  element.update = (stats) => {
    const rows = rowsOf(stats);
    shown = { rows, stats };
    const series = rows.flatMap((row) => row.cells.filter((cell) => cell.tone).map((cell) => ({ ...cell, name: row.name })));
    picture.data = { at: stats.at, series, lines, format: lines ? format : undefined, label,
      words: `${title}, ${stats.span.words}: ${inWords(rows)}. The numbers stand in the table beside it.`,
      onPoint: (index) => {
        pointed = index;
        showNumbers();
      } };
    if (pointed !== null && pointed >= stats.at.length) pointed = null;
    every.hidden = rows.length === 0;
    showNumbers();
    showEvery();
  };
  return element;
}
