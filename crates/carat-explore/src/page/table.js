// The same edges as a table, for screen readers and narrow screens. The picture has the same order.

// A short name for a run: its treatment, or the run's name if two runs have the same treatment.
function shortRun(run) {
  const words = state.info.runs.map(({ treatment }) => treatment.split(",")[0]);
  return new Set(words).size === words.length ? words[run] : inText(state.info.runs[run].name);
}

function columns(view) {
  const short = view.runs.length > 1 ? (run) => `, ${shortRun(run)}` : () => "";
  const list = [
    { key: "name", heading: "from", of: (edge) => edge.source.name },
    { key: "class", heading: "class", of: (edge) => className(edge.source.class) },
  ];
  if (view.edges.some((edge) => edge.source.year !== null)) {
    list.push({ key: "year", heading: "year", of: (edge) => edge.source.year, digits: 0 });
  }
  const perRun = [
    { key: "attention", heading: "attention", of: (run) => attentionOf(run, state.which), digits: 4 },
    { key: "delta", heading: "log-likelihood", of: (run) => run.delta, digits: 3 },
    { key: "effect", heading: "paper's effect", of: (run) => run.effect, digits: 3 },
    { key: "rho", heading: "rho", of: (run) => run.rho, digits: 4 },
  ];
  for (const { key, heading, of, digits } of perRun) {
    view.runs.forEach((_, run) => {
      list.push({ key: `${key}-${run}`, heading: heading + short(run), of: (edge) => of(edge.runs[run]), digits });
    });
  }
  return list;
}

// Edges in the order that the user chose; by default by attention, as they come.
function ordered(view, edges) {
  const column = columns(view).find(({ key }) => key === state.order.key);
  if (!column) return edges;
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number"
      ? one - other
      : String(one ?? "").localeCompare(String(other ?? ""), "en", { numeric: true });
  const sorted = [...edges].sort((one, other) => compare(column.of(one), column.of(other)));
  return state.order.down ? sorted.reverse() : sorted;
}

function cell(view, edge, column) {
  if (column.key === "name") {
    const { source } = edge;
    const name = canWalkTo(source.id)
      ? element("a", { href: `#${source.id}` }, nameElement(source.name))
      : nameElement(source.name);
    const numbered = source.name === `node ${source.id}` ? null : element("span", { class: "number-of" }, `#${source.id}`);
    return element("td", {}, name, numbered);
  }
  const value = column.of(edge);
  if (column.digits === undefined) return element("td", {}, nameElement(value));
  return element("td", { class: "number" }, value === null ? "" : number(value, column.digits));
}

function renderTable(view, edges) {
  const list = columns(view);
  const heading = (column) => {
    const sorted = state.order.key === column.key ? (state.order.down ? "descending" : "ascending") : "none";
    const button = element("button", { type: "button", role: "button", class: "sort" }, column.heading);
    button.addEventListener("click", () => {
      const again = state.order.key === column.key;
      // Numbers are sorted from the largest, names from A.
      state.order = { key: column.key, down: again ? !state.order.down : column.digits !== undefined };
      render();
      byId("table").querySelector(`th[data-key="${column.key}"] button`).focus();
    });
    const kind = column.digits === undefined ? null : "number";
    return element("th", { scope: "col", class: kind, "aria-sort": sorted, "data-key": column.key }, button);
  };
  const row = (edge) => {
    const { id, name } = edge.source;
    const cut = state.deleted === id;
    const button = element(
      "button",
      { type: "button", "aria-pressed": String(cut), "aria-label": `Delete the edge from ${inText(name)}` },
      cut ? "Deleted" : "Delete",
    );
    button.addEventListener("click", () => choose(view.node.id, cut ? null : id));
    const [own, ...rest] = list.map((column) => cell(view, edge, column));
    return element("tr", { "data-source": id }, own, element("td", {}, button), ...rest);
  };
  // The buttons are beside the name, where they are visible on narrow screens too.
  const [first, ...rest] = list.map(heading);
  const head = element("thead", {}, element("tr", {}, first, element("th", { scope: "col" }, "edge"), ...rest));
  byId("table").replaceChildren(head, element("tbody", {}, ...edges.map(row)));
}
