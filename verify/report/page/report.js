// Draws the charts and the table of cases from the page's data. Text from the data reaches the page
// as text only, never as markup.
"use strict";
(() => {
  function make(tag, text, name) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  }

  function copyLine(command) {
    const line = make("div", undefined, "copy");
    const button = make("button", "Copy", "copy-button");
    button.type = "button";
    line.append(make("code", command), button);
    return line;
  }

  // A page from disk may not reach the clipboard's newer interface.
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", text);
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy-button");
    if (button) {
      await copy(button.previousElementSibling.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    }
  });

  const element = document.getElementById("data");
  if (!element) return;  // a page without charts and cases
  const data = JSON.parse(element.textContent);

  function numberTable(heads, rows) {
    const table = make("table", undefined, "numbers");
    const head = table.createTHead().insertRow();
    for (const name of heads) {
      const cell = make("th", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      row.forEach((value, i) => {
        const cell = make(i === 0 ? "th" : "td", value);
        if (i === 0) cell.scope = "row";
        line.append(cell);
      });
    }
    return table;
  }

  // Charts. Colours come from the style, so that light and dark have theirs.
  const charts = new Map();
  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function draw(id, config, heads, rows) {
    charts.get(id)?.destroy();
    document.getElementById("figure-" + id).hidden = rows.length === 0;
    charts.set(id, rows.length === 0 ? undefined : new Chart(document.getElementById(id), config));
    document.getElementById(id + "-table").replaceChildren(numberTable(heads, rows));
  }

  function axis(title, more) {
    return Object.assign({
      title: {display: true, text: title, color: colour("--dim")},
      ticks: {color: colour("--dim"), maxRotation: 60, autoSkip: true},
      grid: {color: colour("--grid")},
    }, more);
  }

  function options(x, y, more) {
    return {
      animation: false, responsive: true, maintainAspectRatio: false,
      plugins: {legend: {labels: {color: colour("--text"), boxWidth: 14}}},
      scales: Object.assign({x, y}, more),
    };
  }

  // What is infinite has no bar of its own height: it reaches twice the bound.
  const height = (use) => use === "inf" ? 2 : use === "NaN" ? null : use;

  function drawStage(stage) {
    const bins = stage.uses.length - 1;
    const names = stage.uses.map((_, i) => i === bins ? "> 1" : "\u2264 " + ((i + 1) / bins).toFixed(2));
    const total = stage.uses.reduce((a, b) => a + b, 0);
    let sum = 0;
    const shares = stage.uses.map((n) => (sum += n) / total);
    const one = colour("--series-1");
    const two = colour("--series-2");
    draw("uses", {
      data: {labels: names, datasets: [
        {type: "bar", label: "cases", data: stage.uses, backgroundColor: stage.uses.map((_, i) => i === bins ? colour("--fail") : one), order: 2},
        {type: "line", label: "share up to there", data: shares, yAxisID: "share", borderColor: two, backgroundColor: two, pointRadius: 2, order: 1},
      ]},
      options: options(axis("largest budget use"), axis("cases", {beginAtZero: true}), {
        share: axis("share", {position: "right", min: 0, max: 1, grid: {drawOnChartArea: false},
                              ticks: {color: colour("--dim"), callback: (x) => Math.round(100 * x) + " %"}}),
      }),
    }, ["use", "cases", "share"], stage.uses.map((n, i) => [names[i], n, (100 * shares[i]).toFixed(1) + " %"]));
    draw("ulps", {
      type: "bar",
      data: {labels: data.ulps, datasets: [
        {label: "own input, fp64", data: stage.own.map((n) => n || null), backgroundColor: one},
        {label: "FP32 reference", data: stage.reference.map((n) => n || null), backgroundColor: two},
      ]},
      options: options(axis("ulp of binary16"), axis("elements", {type: "logarithmic", min: 0.5,
        ticks: {color: colour("--dim"), callback: (x) => Number.isInteger(Math.log10(x)) ? x.toLocaleString("en") : ""}})),
    }, ["ulp", "own input, fp64", "FP32 reference"], data.ulps.map((name, i) => [name, stage.own[i], stage.reference[i]]));
    for (const [id, parts, what] of [["experts", stage.experts, "expert"], ["tiles", stage.tiles, "tile"]]) {
      draw(id, {
        type: "bar",
        data: {labels: parts.index, datasets: [{
          label: "largest budget use", data: parts.use.map(height),
          backgroundColor: parts.use.map((use) => height(use) > 1 ? colour("--fail") : one), categoryPercentage: 0.95, barPercentage: 0.95,
        }]},
        options: options(axis(what), axis("budget use", {beginAtZero: true, suggestedMax: 1})),
      }, [what, "largest budget use", "largest |d| to fp64"], parts.index.map((n, i) => [n, parts.use[i], parts.abs[i]]));
    }
  }

  function startCharts() {
    const choice = document.getElementById("stage-choice");
    if (!choice || data.stages.length === 0) {
      document.getElementById("charts")?.remove();
      return;
    }
    let chosen = data.stages[0];
    data.stages.forEach((stage, i) => {
      const label = make("label");
      const radio = make("input");
      radio.type = "radio";
      radio.name = "stage";
      radio.checked = i === 0;
      radio.addEventListener("change", () => { chosen = stage; drawStage(stage); });
      label.append(radio, " " + stage.name);
      choice.append(label);
    });
    drawStage(chosen);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawStage(chosen));
  }

  // The table of cases.
  const cases = data.cases;
  const descriptor = (i) => cases.descriptor[i].map((part) => cases.parts[part]).join(",");
  const verdict = (i) => data.verdicts[cases.verdict[i]];
  // The shell's way to write a quote inside quotes.
  const reproduction = (i) => data.before + descriptor(i).replaceAll("'", "'\\''") + data.after;
  function valueOf(i, key) {
    for (const part of cases.descriptor[i]) {
      const text = cases.parts[part];
      if (text.startsWith(key + "=")) return text.slice(key.length + 1);
    }
    return "-";
  }
  // A figure that is no finite number is greater than all that are.
  const rank = (x) => x === "NaN" ? Infinity : x === "inf" ? Number.MAX_VALUE : x;
  const columns = [
    {name: "case", get: (i) => cases.index[i], number: true},
    {name: "verdict", get: verdict, by: (i) => data.gravities[cases.verdict[i]]},
    {name: "t", get: (i) => cases.tokens[i], number: true},
    {name: "data", get: (i) => valueOf(i, "fixture") === "-" ? valueOf(i, "data") : valueOf(i, "fixture").split("@")[0]},
    {name: "routing", get: (i) => valueOf(i, "routing")},
    {name: "W13", get: (i) => valueOf(i, "w13")},
    {name: "W2", get: (i) => valueOf(i, "w2")},
    {name: "budget use", get: (i) => cases.use[i], number: true},
    {name: "end to end", get: (i) => cases.endToEnd[i], number: true},
    {name: "max |d|", get: (i) => cases.maxAbs[i], number: true},
    {name: "bits off", get: (i) => cases.bits[i], number: true},
    {name: "findings", get: (i) => cases.findings[i], number: true},
  ];
  const perPage = 50;
  const state = {rows: [], page: 0, sort: null, down: false};

  function matching() {
    const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = document.getElementById("verdict").value;
    const rows = [];
    for (let i = 0; i < cases.index.length; ++i) {
      if (wanted && verdict(i) !== wanted) continue;
      if (words.length > 0) {
        const text = (descriptor(i) + " " + verdict(i) + " " + cases.reasons[cases.reason[i]]).toLowerCase();
        if (!words.every((word) => text.includes(word))) continue;
      }
      rows.push(i);
    }
    if (state.sort) {
      const key = state.sort.by ?? state.sort.get;
      const sign = state.down ? -1 : 1;
      rows.sort((a, b) => {
        const x = rank(key(a));
        const y = rank(key(b));
        return x < y ? -sign : x > y ? sign : a - b;
      });
    }
    return rows;
  }

  function badge(i) {
    const gravity = data.gravities[cases.verdict[i]];
    return make("span", verdict(i), "badge " + (gravity === 0 ? "pass" : gravity > 2 ? "fail" : "warn"));
  }

  function detail(i) {
    const box = make("div");
    const reason = cases.reasons[cases.reason[i]];
    if (reason) box.append(make("p", reason));
    const name = make("p", undefined, "descriptor");
    name.append(make("code", descriptor(i)));
    box.append(name, copyLine(reproduction(i)));
    const rows = [];
    data.stageNames.forEach((stage, s) => {
      const [use, endToEnd, maxAbs] = cases.stages[s];
      if (use[i] !== -1) rows.push([stage, use[i], endToEnd[i], maxAbs[i]]);
    });
    if (rows.length > 0) box.append(numberTable(["stage", "budget use", "end to end", "max |d| to FP32"], rows));
    if (document.getElementById("case-" + cases.index[i])) {
      const link = make("a", "values around the worst element");
      link.href = "#case-" + cases.index[i];
      box.append(link);
    }
    return box;
  }

  function toggle(row, button, i) {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) {
      row.nextSibling.remove();
      return;
    }
    const line = make("tr", undefined, "detail");
    const cell = make("td");
    cell.colSpan = columns.length;
    cell.append(detail(i));
    line.append(cell);
    row.after(line);
  }

  function showPage() {
    const body = document.getElementById("case-rows");
    const first = state.page * perPage;
    const shown = state.rows.slice(first, first + perPage);
    body.replaceChildren(...shown.map((i) => {
      const row = make("tr");
      columns.forEach((column, k) => {
        const cell = make(k === 0 ? "th" : "td", undefined, column.number ? "number" : "");
        if (k === 0) {
          cell.scope = "row";
          const button = make("button", column.get(i), "open");
          button.type = "button";
          button.setAttribute("aria-expanded", "false");
          button.setAttribute("aria-label", "case " + column.get(i));
          button.addEventListener("click", () => toggle(row, button, i));
          cell.append(button);
        } else if (column.name === "verdict") {
          cell.append(badge(i));
        } else {
          cell.textContent = column.get(i);
        }
        row.append(cell);
      });
      return row;
    }));
    const pages = Math.max(1, Math.ceil(state.rows.length / perPage));
    document.getElementById("page").textContent = `page ${state.page + 1} of ${pages}`;
    document.getElementById("previous").disabled = state.page === 0;
    document.getElementById("next").disabled = state.page + 1 >= pages;
    document.getElementById("matches").textContent = `${state.rows.length.toLocaleString("en")} of ${cases.index.length.toLocaleString("en")} cases`;
  }

  function update() {
    state.rows = matching();
    state.page = 0;
    showPage();
  }

  function startCases() {
    if (!document.getElementById("cases")) return;
    const heads = document.getElementById("case-heads");
    for (const column of columns) {
      const cell = make("th", undefined, column.number ? "number" : "");
      cell.scope = "col";
      const button = make("button", column.name);
      button.type = "button";
      button.addEventListener("click", () => {
        state.down = state.sort === column ? !state.down : Boolean(column.number && column.name !== "case") || column.name === "verdict";
        state.sort = column;
        for (const other of heads.children) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        update();
      });
      cell.append(button);
      heads.append(cell);
    }
    let waiting;
    document.getElementById("filter").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(update, 120);
    });
    document.getElementById("verdict").addEventListener("change", update);
    document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
    document.getElementById("previous").addEventListener("click", () => { --state.page; showPage(); });
    document.getElementById("next").addEventListener("click", () => { ++state.page; showPage(); });
    update();
  }

  // A link to a case opens its failure, or finds it in the table.
  function openCase(number) {
    const failure = document.getElementById("case-" + number);
    if (failure) {
      failure.open = true;
      const more = failure.closest(".more");
      if (more) more.open = true;
      return;
    }
    const i = cases.index.indexOf(number);
    if (i < 0 || !document.getElementById("cases")) return;
    document.getElementById("filter").value = "";
    document.getElementById("verdict").value = "";
    state.rows = matching();
    const place = state.rows.indexOf(i);
    state.page = Math.floor(place / perPage);
    showPage();
    const button = document.getElementById("case-rows").children[place % perPage].querySelector(".open");
    button.click();
    button.scrollIntoView({block: "center"});
    button.focus({preventScroll: true});
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-case]");
    if (link) {
      if (!document.getElementById("case-" + link.dataset.case)) event.preventDefault();
      openCase(Number(link.dataset.case));
    }
  });

  startCases();
  startCharts();
})();
