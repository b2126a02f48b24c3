"use strict";
const root = document.documentElement;
const theme = document.getElementById("theme");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const showTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-pressed", String(isDark())); };
theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
showTheme();

const key = (cell) => { const text = cell.textContent.trim(); const number = parseFloat(text); return [Number.isNaN(number) ? null : number, text]; };
const compare = (a, b) => {
  if (a[0] !== null && b[0] !== null) return a[0] - b[0];
  if (a[0] !== null || b[0] !== null) return a[0] !== null ? -1 : 1;
  return a[1].localeCompare(b[1]);
};
for (const table of document.querySelectorAll("table.data")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(key(a.cells[i]), key(b.cells[i])));
    body.append(...rows);
  }));
}

document.getElementById("search").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of document.querySelectorAll("table.data tbody tr, .card")) {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
  }
});

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
