"use strict";

// Light and dark follow the system until the button is used.
const root = document.documentElement;
const theme = document.getElementById("theme");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const showTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours"); };
theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
showTheme();

// A column sorts by its numbers, with missing ones last, or else by its text.
const compare = (a, b, i, sign) => {
  const [x, y] = [a.cells[i], b.cells[i]];
  if (!("key" in x.dataset)) return sign * x.textContent.trim().localeCompare(y.textContent.trim(), undefined, { numeric: true });
  const [p, q] = [parseFloat(x.dataset.key), parseFloat(y.dataset.key)];
  if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
  return sign * (p - q);
};
for (const table of document.querySelectorAll("table.data")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => compare(a, b, i, down ? -1 : 1)));
  }));
}

// A row is shown if it has all words of its table's filter and of the search field of the page.
const search = document.getElementById("search");
const words = (input) => input ? input.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
const has = (item, wanted) => { const text = item.textContent.toLowerCase(); return wanted.every((word) => text.includes(word)); };
const apply = () => {
  const everywhere = words(search);
  let shown = 0;
  for (const table of document.querySelectorAll("table.data")) {
    const block = table.closest(".block");
    const wanted = [...everywhere, ...words(block.querySelector("input"))];
    let kept = 0;
    for (const row of table.tBodies[0].rows) { row.hidden = !has(row, wanted); kept += !row.hidden; }
    const count = block.querySelector("output");
    const all = table.tBodies[0].rows.length;
    if (count) count.textContent = kept === all ? `${all} rows` : `${kept} of ${all} rows`;
    shown += kept;
  }
  for (const card of document.querySelectorAll(".card")) { card.hidden = !has(card, everywhere); shown += !card.hidden; }
  document.getElementById("found").textContent = everywhere.length ? `${shown} rows and methods contain “${search.value.trim()}”` : "";
};
document.addEventListener("input", (event) => { if (event.target.type === "search") apply(); });

// A click enlarges a figure; a link into closed details opens them; printing opens all details.
const large = document.getElementById("large");
for (const zoom of document.querySelectorAll(".zoom")) {
  zoom.addEventListener("click", () => {
    const image = zoom.querySelector("img");
    large.querySelector("img").src = image.src;
    large.querySelector("img").alt = image.alt;
    large.showModal();
  });
}
document.getElementById("close").addEventListener("click", () => large.close());
large.addEventListener("click", (event) => { if (event.target === large) large.close(); });
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener("hashchange", reveal);
reveal();
addEventListener("beforeprint", () => document.querySelectorAll("details:not(.commands)").forEach((item) => { item.open = true; }));
