"use strict";
// Draws the table of programs from the data in the page, filters it and the failures.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const app = document.getElementById("app");
  document.documentElement.classList.add("js");
  // The parts of a tally: check, passed, failed, expected, skipped, reason.
  const CHECK = 0, REASON = 5, PASS = 1, FAIL = 2, EXPECTED = 3, SKIP = 4;
  const LOOK = { [PASS]: ["p", "✓"], [FAIL]: ["f", "✗"], [EXPECTED]: ["e", "~"], [SKIP]: ["s", "–"] };
  const CLASS = { [PASS]: "pass", [FAIL]: "fail", [EXPECTED]: "expected", [SKIP]: "skip" };
  const WORDS = { [PASS]: "passed", [FAIL]: "failed", [EXPECTED]: "failed as expected", [SKIP]: "skipped" };
  const WORST = [FAIL, EXPECTED, PASS, SKIP];
  const PART = ["backend", "device", "compiler"];
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const number = (n) => n < 100000 ? String(n) : Math.floor(n / 1000) + "k";

  // Filters.
  const fields = ["backend", "device", "compiler", "check", "outcome", "text", "new"];
  const filter = Object.fromEntries(fields.map((name) => [name, ""]));
  const given = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
  for (const name of fields) filter[name] = given.get(name) || "";
  const distinct = (part) => [...new Set(data.columns.map((column) => column[part]))];
  const option = (value, text) => `<option value="${escaped(value)}">${escaped(text)}</option>`;
  const select = (name, options, label = name) => options.length < 2 ? "" :
    `<label>${label}<select id="f-${name}">${option("", "all")}${options.map(([value, text]) => option(value, text)).join("")}</select></label>`;
  const same = (values) => values.map((value) => [value, value]);
  document.getElementById("filters").innerHTML = `<form class="filters js-only" aria-label="filters">
    ${PART.map((name, part) => select(name, same(distinct(part)))).join("")}
    ${select("check", same(data.checks))}
    ${select("outcome", WORST.map((kind) => [String(kind), WORDS[kind]]))}
    <label class="text">program or message<input id="f-text" type="search" placeholder="part of a name"></label>
    ${data.baseline ? select("new", [["1", "new failures"], ["0", "old failures"]], "since the baseline") : ""}
    <span class="buttons"><button type="reset">Clear</button></span>
    </form>`;
  app.innerHTML = `<p><span class="dim" id="shown" aria-live="polite"></span> <button type="button" id="unfold">Unfold all</button> <button type="button" id="fold">Fold all</button></p>
    <div class="matrix" tabindex="-1"><table><thead></thead><tbody></tbody></table></div>
    <p class="dim">✗ N failed &ensp; ~ N failed as expected &ensp; ✓ N passed &ensp; – N skipped &ensp; · nothing checked. A cell unfolds to its checks; arrow keys move between cells.</p>`;
  const form = document.querySelector("#filters form");
  const more = document.getElementById("more");
  const head = app.querySelector("thead"), body = app.querySelector("tbody"), shown = app.querySelector("#shown");

  // Folders of programs, in the order of paths.
  const folders = new Map();
  data.programs.forEach(([path], index) => {
    const name = path.slice(0, path.lastIndexOf("/") + 1);
    if (!folders.has(name)) folders.set(name, []);
    folders.get(name).push(index);
  });
  // What all folders begin with is in the head, once: a phone would show little else.
  const paths = [...folders.keys()].map((name) => name.split("/").slice(0, -1));
  let shared = paths[0]?.length ?? 0;
  for (const path of paths) {
    const differs = path.findIndex((part, i) => part !== paths[0][i]);
    shared = Math.min(shared, differs < 0 ? path.length : differs);
  }
  const common = (paths[0] ?? []).slice(0, shared).map((part) => `${part}/`).join("");
  const open = new Set(data.programs.length <= 60 ? folders.keys() : []);

  // The failures of each program and column, for links; and the texts to search.
  const links = new Map();
  data.groups.forEach((group, index) => group.cells.forEach(([program, column]) => {
    const key = program + "," + column;
    if (!links.has(key)) links.set(key, new Set());
    links.get(key).add(index);
  }));
  const groupElements = data.groups.map((_, index) => document.getElementById("g" + index));
  const groupTexts = groupElements.map((element) => element ? element.textContent.toLowerCase() : "");
  const headlines = groupElements.map((element) => element ? element.querySelector(".headline").textContent.slice(0, 120) : "");
  // A text in a message selects the programs of the failure; one in a name only selects this program.
  const messages = groupElements.map((element) => element
    ? [...element.querySelectorAll(".headline, .message")].map((part) => part.textContent.toLowerCase()).join("\n") : "");

  const visibleColumns = () => data.columns.map((_, index) => index).filter((index) =>
    PART.every((name, part) => filter[name] === "" || data.columns[index][part] === filter[name]));

  // The counts of a cell, of the selected check.
  const counts = (cell, check) => {
    const sum = [0, 0, 0, 0, 0];
    for (const tally of data.cells[cell]) {
      if (check >= 0 && tally[CHECK] !== check) continue;
      for (const kind of WORST) sum[kind] += tally[kind];
    }
    return sum;
  };
  const look = (sum, outcome) => {
    const kind = outcome && sum[outcome] ? Number(outcome) : WORST.find((kind) => sum[kind] > 0);
    if (!kind) return ["n", "·", "nothing checked"];
    const [style, sign] = LOOK[kind];
    const words = WORST.filter((kind) => sum[kind] > 0).map((kind) => `${sum[kind]} ${WORDS[kind]}`).join(", ");
    return [style, `${sign} ${number(sum[kind])}`, words];
  };

  const draw = () => {
    const columns = visibleColumns();
    const check = data.checks.indexOf(filter.check);
    const text = filter.text.toLowerCase();
    const matching = new Set();
    groupElements.forEach((element, index) => {
      const group = data.groups[index];
      const hit = (filter.check === "" || data.checks[group.check] === filter.check)
        && group.cells.some(([, column]) => column < 0 || columns.includes(column))
        && (filter.outcome === "" || Number(filter.outcome) === FAIL)
        && (filter.new === "" || (filter.new === "1" ? group.new > 0 : group.new < group.count));
      const found = text === "" || groupTexts[index].includes(text);
      if (hit && (text === "" || messages[index].includes(text))) group.cells.forEach(([program]) => matching.add(program));
      if (element) element.hidden = !(hit && found);
    });
    if (more) {
      more.hidden = !groupElements.some((element) => element && !element.hidden && more.contains(element));
      if (fields.some((name) => filter[name])) more.open = true;
    }
    const any = groupElements.some((element) => element && !element.hidden);
    document.getElementById("none-shown").hidden = any || data.groups.length === 0;

    head.innerHTML = `<tr><th scope="col">program${folders.size > 1 && common ? ` <span class="dim">in ${escaped(common)}</span>` : ""}</th>${columns.map((index) => {
      const [backend, device, compiler, note] = data.columns[index];
      return `<th scope="col" title="${escaped(device)}">${escaped(backend)}<small>${escaped(note)}</small><small>${escaped(compiler)}</small></th>`;
    }).join("")}</tr>`;
    const rows = [];
    let programs = 0;
    for (const [name, indices] of folders) {
      const inside = [];
      const sums = columns.map(() => [0, 0, 0, 0, 0]);
      for (const index of indices) {
        const [path, cells] = data.programs[index];
        if (text && !path.toLowerCase().includes(text) && !matching.has(index)) continue;
        if (filter.new !== "" && !matching.has(index)) continue;
        const all = columns.map((column) => counts(cells[column], check));
        if (filter.outcome && !all.some((sum) => sum[filter.outcome] > 0)) continue;
        if (check >= 0 && !all.some((sum) => sum.some((count) => count > 0))) continue;
        all.forEach((sum, at) => sum.forEach((count, kind) => { sums[at][kind] += count; }));
        inside.push([index, path, all]);
      }
      if (!inside.length) continue;
      programs += inside.length;
      const isOpen = open.has(name);
      if (folders.size > 1) {
        rows.push(`<tr class="folder"><th scope="rowgroup"><button type="button" data-folder="${escaped(name)}" title="${escaped(name)}" aria-expanded="${isOpen}">${isOpen ? "▾" : "▸"} ${escaped(name.slice(common.length) || "./")} <span class="dim">${inside.length}</span></button></th>${sums.map((sum) => {
          const [style, label, words] = look(sum, filter.outcome);
          return `<td><span class="cell ${style}" title="${words}">${label}</span></td>`;
        }).join("")}</tr>`);
      }
      if (!isOpen && folders.size > 1) continue;
      for (const [index, path, all] of inside) {
        rows.push(`<tr data-program="${index}"><th scope="row"><span class="name" title="${escaped(path)}"><bdi>${escaped(path.slice(name.length))}</bdi></span></th>${all.map((sum, at) => {
          const [style, label, words] = look(sum, filter.outcome);
          return style === "n" ? `<td><span class="cell n" title="${words}">·</span></td>`
            : `<td><button type="button" class="cell ${style}" tabindex="-1" data-column="${columns[at]}" title="${words}" aria-label="${escaped(path)}: ${words}">${label}</button></td>`;
        }).join("")}</tr>`);
      }
    }
    body.innerHTML = rows.join("") || `<tr><td class="dim">The filters exclude all programs.</td></tr>`;
    const first = body.querySelector("button.cell");
    if (first) first.tabIndex = 0;
    shown.textContent = `${programs} of ${data.programs.length} programs, ${columns.length} of ${data.columns.length} columns`;
    const query = new URLSearchParams(fields.filter((name) => filter[name]).map((name) => [name, filter[name]])).toString();
    if (query || location.hash.startsWith("#?")) {
      // A page in a frame of a CI system may not have a history.
      try { history.replaceState(null, "", query ? "#?" + query : location.pathname + location.search); } catch { /* Only the address is missing. */ }
    }
  };

  // The checks of a cell, with reasons and links to its failures.
  const unfold = (button) => {
    const row = button.closest("tr");
    const was = body.querySelector("tr.detail");
    const again = was && was.previousElementSibling === row && was.dataset.column === button.dataset.column;
    if (was) was.remove();
    if (again) return;
    const program = Number(row.dataset.program), column = Number(button.dataset.column);
    const [path, cells] = data.programs[program];
    let lines = "";
    for (const tally of data.cells[cells[column]]) {
      const parts = WORST.filter((kind) => tally[kind] > 0).map((kind) =>
        `<span class="${CLASS[kind]}">${LOOK[kind][1]} ${tally[kind]} ${WORDS[kind]}</span>`);
      lines += `<tr><th scope="row">${escaped(data.checks[tally[CHECK]])}</th><td>${parts.join(", ")}</td><td class="dim">${escaped(tally[REASON])}</td></tr>`;
    }
    const found = [...(links.get(program + "," + column) || [])].map((index) =>
      `<li><a href="#g${index}" data-group="${index}">${escaped(data.checks[data.groups[index].check])}</a> <span class="dim">${escaped(headlines[index])}</span></li>`).join("");
    const [backend, device, compiler] = data.columns[column];
    const detail = document.createElement("tr");
    detail.className = "detail";
    detail.dataset.column = String(column);
    detail.innerHTML = `<td colspan="${row.children.length}"><div class="inner"><h3>${escaped(path)}</h3><p class="dim">${escaped(backend)}, ${escaped(device)}, ${escaped(compiler)}</p><div class="scroll"><table>${lines}</table></div>${found ? `<ul>${found}</ul>` : ""}</div></td>`;
    row.after(detail);
  };

  const update = () => {
    for (const name of fields) {
      const field = document.getElementById("f-" + name);
      filter[name] = field ? field.value : "";
    }
    draw();
  };
  for (const name of fields) {
    const field = document.getElementById("f-" + name);
    if (field) field.value = filter[name];
    if (field && field.value !== filter[name]) field.value = filter[name] = "";
  }
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, 120); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update));
  document.getElementById("unfold").addEventListener("click", () => { for (const name of folders.keys()) open.add(name); draw(); });
  document.getElementById("fold").addEventListener("click", () => { open.clear(); draw(); });
  body.addEventListener("click", (event) => {
    const folder = event.target.closest("button[data-folder]");
    if (folder) {
      const name = folder.dataset.folder;
      if (!open.delete(name)) open.add(name);
      draw();
      [...body.querySelectorAll("button[data-folder]")].find((button) => button.dataset.folder === name).focus();
      return;
    }
    const link = event.target.closest("a[data-group]");
    if (link) {
      const group = groupElements[Number(link.dataset.group)];
      if (group) { group.hidden = false; group.open = true; if (more && more.contains(group)) more.open = true; }
      return;
    }
    const cell = event.target.closest("button.cell");
    if (cell) unfold(cell);
  });
  body.addEventListener("keydown", (event) => {
    const here = event.target.closest("button.cell");
    if (event.key === "Escape") { const detail = body.querySelector("tr.detail"); if (detail) detail.remove(); }
    if (!here) return;
    const row = here.closest("tr"), at = [...row.children].indexOf(here.closest("td"));
    const below = (row, step) => { do { row = step > 0 ? row.nextElementSibling : row.previousElementSibling; } while (row && !row.dataset.program); return row; };
    const beside = (step) => { let cell = here.closest("td"); do { cell = step > 0 ? cell.nextElementSibling : cell.previousElementSibling; } while (cell && !cell.querySelector("button.cell")); return cell; };
    const moves = {
      ArrowRight: () => beside(1), ArrowLeft: () => beside(-1),
      ArrowDown: () => below(row, 1)?.children[at], ArrowUp: () => below(row, -1)?.children[at],
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    const next = moves[event.key]()?.querySelector("button.cell");
    if (next) { here.tabIndex = -1; next.tabIndex = 0; next.focus(); next.scrollIntoView({ block: "nearest", inline: "nearest" }); }
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // Without permission, select it for the user.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  draw();
})();
