"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const say = (text) => { byId("said").textContent = text; };

// Light and dark follow the system until the button is used.
const root = document.documentElement;
const theme = byId("theme");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const showTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours"); };
theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
showTheme();

// The state of the page: the part that is shown, the method that is singled out, and what studies and figures show.
// It is in the address, as in #quickstart?one=quickstart/RFF&quickstart.dataset=digits&x.quickstart-figure-00=s.
const state = { place: "", one: null, shown: {}, x: {} };
const parts = ["dataset", "kernel", "method"];
const readState = (hash) => {
  const [place, query] = hash.slice(1).split("?");
  state.place = decodeURIComponent(place);
  if (query === undefined) return false;
  Object.assign(state, { one: null, shown: {}, x: {} });
  for (const [key, value] of new URLSearchParams(query)) {
    const [first, ...rest] = key.split(".");
    if (key === "one") { const [study, ...label] = value.split("/"); state.one = { study, method: label.join("/") }; }
    else if (first === "x") state.x[rest.join(".")] = value;
    else ((state.shown[key] ??= new Set()).add(value));
  }
  return true;
};
const writeState = () => {
  const query = new URLSearchParams();
  if (state.one) query.append("one", `${state.one.study}/${state.one.method}`);
  for (const [key, values] of Object.entries(state.shown)) for (const value of values) query.append(key, value);
  for (const [id, x] of Object.entries(state.x)) query.append(`x.${id}`, x);
  const text = [...query].length ? `?${query}` : "";
  if (location.hash.slice(1) !== encodeURIComponent(state.place) + text) history.replaceState(null, "", `#${encodeURIComponent(state.place)}${text}`);
};

// One of many is reached by Tab, the others from it by the arrow keys.
const rove = (items, next) => {
  items.forEach((item, i) => { item.tabIndex = i ? -1 : 0; });
  items[0]?.parentElement.closest("[role=toolbar], table").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const seen = items.filter((item) => item.checkVisibility());
    const at = seen.indexOf(event.target);
    if (!step || at < 0 || seen.length < 2) return;
    event.preventDefault();
    const to = seen[(at + step + seen.length) % seen.length];
    items.forEach((item) => { item.tabIndex = item === to ? 0 : -1; });
    to.focus();
  });
};

// Rows of tables know their data set, kernel and method, and the method is a button.
const labels = JSON.parse(byId("labels").textContent);
const columns = { "data set": "dataset", kernel: "kernel", method: "method", study: "study" };
for (const table of all("table.data")) {
  const names = [...table.tHead.rows[0].cells].map((head) => columns[head.textContent.trim()]);
  if (!names.includes("method")) continue;
  for (const row of table.tBodies[0].rows) {
    names.forEach((name, i) => { if (name) row.dataset[name] = row.cells[i].textContent.trim(); });
    const cell = row.cells[names.indexOf("method")];
    const button = Object.assign(document.createElement("button"), { type: "button", className: "method", textContent: cell.textContent });
    button.setAttribute("aria-pressed", "false");
    cell.replaceChildren(button);
  }
  rove(all("button.method", table));
}
for (const legend of all(".legend")) rove(all("button", legend));

// A method is singled out while the mouse or the focus is on it, and until further notice by a click, a tap or Enter.
const card = byId("card");
const single = (one, pinned = false, by = null) => {
  const q = one && CSS.escape(one.method);
  byId("single").textContent = one ? `.panels [data-method]:not([data-method="${q}"]) { opacity: .1; }
    .panels [data-points][data-method="${q}"] path { stroke-width: 2.4px; }
    tr[data-method="${q}"] { background: var(--same-bg); } .legend button:not([data-method="${q}"]) { color: var(--soft); }
    .legend button:not([data-method="${q}"]) .swatch { opacity: .3; }` : "";
  const about = one && (labels[one.study]?.[one.method] ?? Object.values(labels).map((study) => study[one.method]).find(Boolean));
  card.hidden = !about;
  if (!about) return;
  card.classList.toggle("pinned", pinned);
  const text = byId(`method-${about.type}`).cloneNode(true);
  text.removeAttribute("id");
  for (const region of all("[role=region]", text)) region.setAttribute("aria-label", `${region.getAttribute("aria-label")}, on the card`);
  const name = Object.assign(document.createElement("p"), { className: "label", textContent: one.method });
  name.append(Object.assign(document.createElement("code"), { textContent: about.made }));
  card.lastElementChild.replaceChildren(name, ...text.childNodes);
  if (by) aside(by.getBoundingClientRect());
};
// The card stands in the first corner in which it does not cover what opened it.
const aside = (by) => ["", "left", "top", "top left"].some((corner) => {
  card.dataset.at = corner;
  const own = card.getBoundingClientRect();
  return own.right < by.left || own.left > by.right || own.bottom < by.top || own.top > by.bottom;
});
const methodOf = (element) => {
  const item = element?.closest?.("[data-method]");
  return item && { study: item.dataset.study ?? item.closest("[data-study]")?.dataset.study ?? "", method: item.dataset.method };
};
const settle = () => { single(state.one, true); hideTip(); };
const pin = (one, by) => {
  state.one = one && state.one?.method === one.method ? null : one;
  for (const button of all("button[aria-pressed]")) {
    const method = methodOf(button)?.method;
    if (method) button.setAttribute("aria-pressed", String(method === state.one?.method));
  }
  single(state.one, true, by);
  say(state.one ? `${state.one.method} is singled out` : "All methods are shown alike");
  writeState();
};
document.addEventListener("mouseover", (event) => {
  if (card.contains(event.target) || event.target.closest(".panels")) return;
  const one = methodOf(event.target);
  if (one) single(one, one.method === state.one?.method, event.target); else settle();
});
document.addEventListener("focusin", (event) => { const one = methodOf(event.target); if (one) single(one, false, event.target); else if (!card.contains(event.target)) single(state.one, true); });
document.addEventListener("click", (event) => { if (event.target.closest("button[aria-pressed]")) { const one = methodOf(event.target); if (one) pin(one, event.target); } });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") { if (state.one) pin(null); settle(); } });
byId("close").addEventListener("click", () => { if (state.one) pin(null); settle(); });

// Points of a panel show their values to the mouse, the finger and the arrow keys.
const tip = byId("tip");
const hideTip = () => { tip.hidden = true; all(".ring").forEach((ring) => ring.remove()); };
const number = (value) => String(Number(value.toPrecision(4))).replace("-", "−");
const scaleOf = (text, from, to) => {
  const [low, high, kind] = text.split(",");
  const f = kind === "log" ? Math.log : (value) => value;
  const [a, b] = [f(Number(low)), f(Number(high))];
  return (value) => from + (f(value) - a) / (b - a) * (to - from);
};
const pointsOf = (panel) => panel.points ??= (() => {
  const [left, top, right, bottom] = panel.dataset.frame.split(" ").map(Number);
  const [x, y] = [scaleOf(panel.dataset.x, left, right), scaleOf(panel.dataset.y, bottom, top)];
  return all("[data-points]", panel).flatMap((line) => line.dataset.points.split(";").filter(Boolean).map((text) => {
    const [at, mean, low, high, n] = text.split(",").map(Number);
    const spread = (line.dataset.spread ?? panel.dataset.spread);
    return { line, at, mean, low, high, n, spread, px: x(at * (line.dataset.shift ?? 1)), py: Math.min(Math.max(y(mean), top), bottom) };
  }));
})();
const shownPoints = (panel) => pointsOf(panel).filter((point) => !point.line.hasAttribute("hidden"));
const nameOf = (point) => point.line.dataset.line ?? point.line.dataset.method;
const valuesOf = (point) => `${number(point.mean)} (${number(point.low)} to ${number(point.high)}, ${point.spread}${point.n ? `, n = ${point.n}` : ""})`;
const showPoint = (panel, point) => {
  hideTip();
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  for (const [key, value] of Object.entries({ class: "ring", cx: point.px, cy: point.py, r: 6 })) ring.setAttribute(key, value);
  panel.append(ring);
  const { method } = point.line.dataset;
  single({ study: panel.closest("[data-study]").dataset.study, method }, method === state.one?.method, ring);
  const box = ring.getBoundingClientRect();
  tip.replaceChildren(...[nameOf(point), `${panel.dataset.xlabel}: ${number(point.at)}`, `${panel.dataset.ylabel}: ${number(point.mean)}`,
    `${point.spread}: ${number(point.low)} to ${number(point.high)}`, point.n ? `n = ${point.n}` : ""].filter(Boolean)
    .map((text) => Object.assign(document.createElement("span"), { textContent: text })));
  tip.hidden = false;
  tip.style.left = `${Math.max(8, Math.min(box.right + 8, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${box.bottom + 8 + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 8 : box.bottom + 8}px`;
};
const near = (panel, event, reach) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.getScreenCTM().inverse());
  const unit = 1 / panel.getScreenCTM().a;
  const found = shownPoints(panel).map((point) => [Math.hypot(point.px - at.x, point.py - at.y), point]).sort((a, b) => a[0] - b[0])[0];
  return found && found[0] < reach * unit ? found[1] : null;
};
for (const panel of all("svg.panel:has([data-points])")) {
  const places = pointsOf(panel);
  const study = panel.closest("[data-study]").dataset.study;
  panel.tabIndex = 0;
  panel.setAttribute("role", "application");
  panel.setAttribute("aria-roledescription", "plot");
  panel.setAttribute("aria-label", `${panel.dataset.title}: ${places.length} points. Left and right go along a line, up and down to the next line.`);
  panel.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const point = near(panel, event, 18);
    if (point) { showPoint(panel, point); return; }
    hideTip();
    const line = methodOf(event.target);
    single(line ?? state.one, !line);
  });
  panel.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") settle(); });
  panel.addEventListener("click", (event) => {
    const point = near(panel, event, 28);
    const method = point?.line.dataset.method ?? methodOf(event.target)?.method;
    if (method !== state.one?.method) pin(method ? { study, method } : null);
    if (point) showPoint(panel, point); else hideTip();
  });
  panel.addEventListener("keydown", (event) => {
    const points = shownPoints(panel);
    if (!points.length || !/^(Arrow|Home|End|Enter)/.test(event.key)) return;
    event.preventDefault();
    const lines = [...new Set(points.map((point) => point.line))];
    let now = points.indexOf(panel.current);
    if (event.key === "Enter") { if (now >= 0) pin({ study, method: points[now].line.dataset.method }); return; }
    const own = points.filter((point) => point.line === points[now]?.line);
    if (now < 0) now = 0;
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const line = lines[(lines.indexOf(points[now].line) + (event.key === "ArrowDown" ? 1 : -1) + lines.length) % lines.length];
      const others = points.filter((point) => point.line === line);
      now = points.indexOf(others[Math.min(own.indexOf(points[now]), others.length - 1)]);
    } else {
      const to = { ArrowRight: own.indexOf(points[now]) + 1, ArrowLeft: own.indexOf(points[now]) - 1, Home: 0, End: own.length - 1 }[event.key];
      now = points.indexOf(own[Math.max(0, Math.min(to, own.length - 1))]);
    }
    panel.current = points[now];
    showPoint(panel, panel.current);
    say(`${nameOf(panel.current)}, ${panel.dataset.xlabel} ${number(panel.current.at)}: ${valuesOf(panel.current)}`);
  });
  panel.addEventListener("blur", hideTip);
}

// A column sorts by its numbers, with missing ones last, or else by its text.
const compare = (a, b, i, sign) => {
  const [x, y] = [a.cells[i], b.cells[i]];
  if (!("key" in x.dataset)) return sign * x.textContent.trim().localeCompare(y.textContent.trim(), undefined, { numeric: true });
  const [p, q] = [parseFloat(x.dataset.key), parseFloat(y.dataset.key)];
  if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
  return sign * (p - q);
};
document.addEventListener("click", (event) => {
  const head = event.target.closest("table.data th");
  if (!head) return;
  const table = head.closest("table");
  const heads = [...table.tHead.rows[0].cells];
  const down = head.getAttribute("aria-sort") === "ascending";
  heads.forEach((other) => other.setAttribute("aria-sort", "none"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => compare(a, b, heads.indexOf(head), down ? -1 : 1)));
});

// A row is shown if the study shows its data set, kernel and method, and if it has all words of its table's filter and
// of the search field of the page. The page moves to the first hit of the search, and by Enter to the next one.
const search = byId("search");
let hits = [], current = 0;
const open = (item) => { for (; item; item = item.parentElement) if (item instanceof HTMLDetailsElement) item.open = true; };
const showHit = (at) => {
  const n = hits.length, said = `contain “${search.value.trim()}”`;
  current = (at + n) % (n || 1);
  all(".hit").forEach((item) => item.classList.remove("hit"));
  byId("found").textContent = !words(search).length ? "" : n ? `${current + 1} of ${n} rows, methods and headings that ${said}. Enter goes to the next.` : `No rows, methods or headings ${said}.`;
  if (!n) return;
  hits[current].classList.add("hit");
  open(hits[current]);
  hits[current].scrollIntoView({ block: "center" });
};
search.addEventListener("keydown", (event) => { if (event.key === "Enter") showHit(current + (event.shiftKey ? -1 : 1)); });
const words = (input) => input ? input.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
const has = (item, wanted) => { const text = item.textContent.toLowerCase(); return wanted.every((word) => text.includes(word)); };
const chosen = (item, study) => parts.every((part) => {
  const shown = state.shown[`${study}.${part}`];
  const offered = shown && all(`#${CSS.escape(study)}-choose [data-part=${part}] input`).map((box) => box.value);
  return !shown || !(part in item.dataset) || !offered.includes(item.dataset[part]) || shown.has(item.dataset[part]);
});
const apply = () => {
  const everywhere = words(search);
  for (const table of all("table.data")) {
    const block = table.closest(".block");
    const study = table.closest("[data-study]")?.dataset.study;
    const wanted = [...everywhere, ...words(block.querySelector("input"))];
    let kept = 0;
    for (const row of table.tBodies[0].rows) { row.hidden = !has(row, wanted) || Boolean(study && !chosen(row, study)); kept += !row.hidden; }
    const count = block.querySelector("output");
    const rows = table.tBodies[0].rows.length;
    if (count) count.textContent = kept === rows ? `${rows} rows` : `${kept} of ${rows} rows`;
  }
  for (const item of all(".card")) item.hidden = !has(item, everywhere);
  if (everywhere.length && byId("other-methods")) byId("other-methods").open = true;
  hits = everywhere.length ? all("main :is(h2, .study h3, .card, table.data tbody tr)").filter((item) => !item.hidden && has(item, everywhere)) : [];
};
document.addEventListener("input", (event) => { if (event.target.type === "search") apply(); if (event.target === search) showHit(0); });

// What a study shows, and by which axis.
const showChosen = () => {
  for (const choose of all(".choose")) {
    const study = choose.closest("[data-study]").dataset.study;
    const left = [];
    for (const field of all("fieldset", choose)) {
      const key = `${study}.${field.dataset.part}`;
      const boxes = all("input", field);
      boxes.forEach((box) => { box.checked = !state.shown[key] || state.shown[key].has(box.value); });
      const out = boxes.filter((box) => !box.checked).length;
      if (out) left.push(`${boxes.length - out} of ${boxes.length} ${field.querySelector("legend").textContent.toLowerCase()}`);
    }
    choose.querySelector("output").textContent = left.length ? `Showing ${left.join(", ")}` : "";
    for (const item of all("svg.panel, .legend [data-method], .panels [data-method]", byId(study))) item.toggleAttribute("hidden", !chosen(item, study));
  }
  for (const figure of all("figure[id]")) {
    const axes = all(".panels", figure);
    const wanted = axes.some((item) => item.dataset.x === state.x[figure.id]) ? state.x[figure.id] : axes[0].dataset.x;
    axes.forEach((item) => { item.hidden = item.dataset.x !== wanted; });
    all(".switch input", figure).forEach((input) => { input.checked = input.value === wanted; });
  }
  all("details.numbers[open]").forEach(fill);
  apply();
};
const choose = (field, values) => {
  const key = `${field.closest("[data-study]").dataset.study}.${field.dataset.part}`;
  if (values.length === all("input", field).length) delete state.shown[key]; else state.shown[key] = new Set(values.length ? values : [""]);
  showChosen();
  writeState();
};
for (const field of all(".choose fieldset")) {
  field.addEventListener("change", () => choose(field, all("input:checked", field).map((box) => box.value)));
  field.querySelector(".all").addEventListener("click", () => choose(field, all("input", field).map((box) => box.value)));
  field.querySelector(".none").addEventListener("click", () => choose(field, []));
}
for (const input of all(".switch input")) {
  input.addEventListener("change", () => {
    const figure = input.closest("figure");
    if (figure.querySelector(".panels").dataset.x === input.value) delete state.x[figure.id]; else state.x[figure.id] = input.value;
    hideTip();
    showChosen();
    writeState();
  });
}

// The points that a figure shows, as a table.
const visible = (figure) => all(".panels:not([hidden]) > svg:not([hidden])", figure);
const fill = (details) => {
  const figure = details.closest("figure");
  const rows = visible(figure).filter((panel) => panel.dataset.frame).flatMap((panel) => shownPoints(panel).map((point) =>
    [panel.dataset.title, nameOf(point), ...[point.at, point.mean, point.low, point.high].map(number), point.n || "", point.spread]));
  const { xlabel, ylabel } = visible(figure)[0]?.dataset ?? {};
  const table = document.createElement("table");
  const add = (to, tag, texts) => { const row = to.insertRow(); for (const text of texts) row.append(Object.assign(document.createElement(tag), { textContent: text })); };
  add(table.createTHead(), "th", ["panel", "method", xlabel, ylabel, "from", "to", "n", "interval"]);
  const body = table.createTBody();
  for (const row of rows) add(body, "td", row);
  const csv = Object.assign(document.createElement("button"), { type: "button", className: "csv", textContent: "CSV" });
  csv.setAttribute("aria-label", `Download the numbers as CSV: ${figure.dataset.name}`);
  const scroll = Object.assign(document.createElement("div"), { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Numbers: ${figure.dataset.name}` });
  scroll.append(table);
  table.dataset.name = figure.dataset.name;
  details.lastElementChild.className = "block";
  details.lastElementChild.replaceChildren(csv, scroll);
};
for (const details of all("details.numbers")) details.addEventListener("toggle", () => { if (details.open) fill(details); });

// Downloads: a table as CSV with the rows that are shown, a figure as SVG or PNG with the panels that are shown.
const save = (blob, name, suffix) => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name.toLowerCase().replace(/[^a-z0-9]+/g, "_") + suffix });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  say(`${link.download} was downloaded`);
};
const csvOf = (table) => {
  const [head, ...rows] = [...table.rows].filter((row) => !row.hidden);
  const twice = [...head.cells].map((_, i) => rows.some((row) => row.cells[i].dataset.std));
  const line = (row, value, std) => [...row.cells].flatMap((cell, i) => twice[i] ? [value(cell), std(cell)] : [value(cell)])
    .map((text) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text).join(",");
  const known = (text) => (text ?? "").replace("nan", "");
  const name = (cell) => cell.textContent.trim();
  return [line(head, name, (cell) => `${name(cell)} std`), ...rows.map((row) => line(row, (cell) => known(cell.dataset.key ?? name(cell)), (cell) => known(cell.dataset.std)))].join("\n") + "\n";
};
const drawing = (figure) => {
  const panels = visible(figure);
  const sizes = panels.map((panel) => panel.getAttribute("viewBox").split(" ").map(Number).slice(2));
  const [width, height] = sizes[0];
  const abreast = Math.min(panels.length, Number(panels[0].parentElement.style.getPropertyValue("--n")));
  const places = sizes.map(([w, h], i) => ({ x: (i % abreast) * width, y: Math.floor(i / abreast) * height, width: w, height: h }));
  const keys = all(".legend button:not([hidden])", figure);
  const each = Math.max(...keys.map((key) => 44 + 5.6 * key.textContent.length), 1);
  const aside = Math.max(1, Math.floor(abreast * width / each));
  const [wide, tall] = [abreast * width, Math.max(...places.map((box) => box.y + box.height)) + Math.ceil(keys.length / aside) * 14 + 8];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const set = (item, attributes) => { for (const [key, value] of Object.entries(attributes)) item.setAttribute(key, value); return item; };
  set(svg, { xmlns: svg.namespaceURI, viewBox: `0 0 ${wide} ${tall}`, width: wide * 4 / 3, height: tall * 4 / 3, "font-family": "'DejaVu Sans', Verdana, Arial, Helvetica, sans-serif", "stroke-linejoin": "round" });
  svg.innerHTML = `<defs></defs><path fill="#ffffff" d="M0 0H${wide}V${tall}H0z"/>`;
  panels.forEach((panel, i) => svg.append(set(panel.cloneNode(true), places[i])));
  keys.forEach((key, i) => {
    const at = { x: (i % aside) * each + 6, y: tall - Math.ceil(keys.length / aside) * 14 + Math.floor(i / aside) * 14 };
    const text = set(document.createElementNS(svg.namespaceURI, "text"), { x: at.x + 34, y: at.y + 9, "font-size": 8.5 });
    text.textContent = key.textContent;
    svg.append(set(key.firstElementChild.cloneNode(true), { ...at, width: 30, height: 12 }), text);
  });
  all("[hidden], .ring", svg).forEach((item) => item.remove());
  const used = [...all("use", svg).map((item) => item.getAttribute("href").slice(1)), ...all("[clip-path]", svg).map((item) => item.getAttribute("clip-path").slice(5, -1))];
  for (const id of new Set(used)) svg.firstElementChild.append(byId(id).cloneNode(true));
  return { text: new XMLSerializer().serializeToString(svg), wide, tall };
};
const png = async (figure) => {
  const { text, wide, tall } = drawing(figure);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: wide * 3, height: tall * 3 });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, figure.dataset.name, ".png"));
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const figure = button?.closest("figure");
  if (button?.matches(".csv")) { const table = button.closest(".block").querySelector("table"); save(new Blob([csvOf(table)], { type: "text/csv" }), table.dataset.name, ".csv"); }
  if (button?.matches(".svg")) save(new Blob([drawing(figure).text], { type: "image/svg+xml" }), figure.dataset.name, ".svg");
  if (button?.matches(".png")) png(figure);
  if (button?.matches(".larger")) button.setAttribute("aria-pressed", String(figure.classList.toggle("large")));
});

// A link into closed details opens them, and keeps the rest of the state; printing opens all details.
const reveal = () => {
  if (readState(location.hash)) showChosen();
  single(state.one, true);
  const target = state.place && byId(state.place);
  open(target);
  if (location.hash.includes("?")) target?.scrollIntoView();
  writeState();
};
addEventListener("hashchange", reveal);
showChosen();
reveal();
addEventListener("beforeprint", () => all("details:not(.commands, .numbers, .choose)").forEach((item) => { item.open = true; }));
