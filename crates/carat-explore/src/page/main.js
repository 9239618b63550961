// The page as a whole: which node is shown, which edge is deleted, which edges the filters keep. The address after "#" has
// the first two (12 or 12/7), so that the browser's back and forward buttons work.

const state = {
  info: null,
  view: null,
  deleted: null,
  without: null,
  which: {},
  limit: 20,
  order: { key: null, down: false },
  coloured: [],
  // The page shows an answer for choices that have changed since.
  stale: false,
};

const say = (text) => {
  byId("message").textContent = text;
};

const choose = (node, edge) => {
  location.hash = edge === null ? `${node}` : `${node}/${edge}`;
};

function chosenPlace() {
  const parts = /^#(\d+)(?:\/(\d+))?$/.exec(location.hash);
  return parts ? { node: Number(parts[1]), edge: parts[2] ? Number(parts[2]) : null } : { node: state.info.start, edge: null };
}

const whichInWords = () => byId("which").selectedOptions[0].textContent;

function filtered(view) {
  const [least, threshold] = [byId("least"), byId("threshold")].map((input) => Number(input.value) || 0);
  const [effect, kind] = [byId("effect").value, byId("class").value];
  const keep = (edge) => {
    const same = edge.source.class !== null && edge.source.class === view.node.class;
    const beyond = (run) => (effect === "above" ? run.delta > threshold : run.delta < threshold);
    return edge.runs.some((run) => attentionOf(run, state.which) >= least)
      && (effect === "any" || edge.runs.some(beyond))
      && (kind === "any" || (kind === "same" ? same : !same));
  };
  return ordered(view, view.edges.filter(keep));
}

function renderNode(view) {
  const { node } = view;
  byId("name").replaceChildren(nameElement(node.name));
  const facts = [
    node.name === `node ${node.id}` ? null : `#${node.id}`,
    node.class === null ? "no class known" : `class ${inText(className(node.class).replace(/^class /, ""))}`,
    node.year === null ? null : `year ${node.year}`,
    node.role === null ? null : { train: "training node", val: "validation node", test: "test node" }[node.role],
    plural(node.degree, "in-edge", "in-edges"),
    `read by ${plural(view.num_readers, "node", "nodes")}`,
  ];
  byId("facts").textContent = facts.filter(Boolean).join(" · ");
  const card = (said, run) => {
    const info = state.info.runs[run];
    const right = node.class === null ? "" : said.predicted === node.class ? ", rightly" : ", wrongly";
    return element(
      "div",
      { class: "outcome" },
      element("h3", {}, info.treatment, " (", nameElement(info.name), ")"),
      element("p", {}, "Predicts ", element("strong", {}, nameElement(className(said.predicted))), `${right}. Loss ${number(said.loss)}.`),
      probabilityBars(said, null),
    );
  };
  byId("predictions").replaceChildren(...view.runs.map(card));
  document.title = `${node.name} · carat explore`;
}

function renderNote(view, edges) {
  const { node } = view;
  if (node.degree === 0) {
    byId("note").textContent = "It has no in-edges, so its prediction depends on its own features only.";
    return;
  }
  const left = node.degree - view.edges.length;
  const parts = [`${plural(edges.length, "in-edge", "in-edges")} of ${thousands(node.degree)}.`];
  if (left > 0) parts.push(`${thousands(left)} with less attention (${whichInWords()}) ${left === 1 ? "is" : "are"} left out.`);
  if (edges.length < view.edges.length) parts.push(`The filters hide ${thousands(view.edges.length - edges.length)}.`);
  byId("note").textContent = parts.join(" ");
}

function renderReaders(view) {
  byId("readers").hidden = view.num_readers === 0;
  const left = view.num_readers - view.readers.length;
  byId("readers-note").textContent = left > 0 ? `The first ${view.readers.length} of ${thousands(view.num_readers)}.` : "";
  const item = (card) => element(
    "li",
    {},
    canWalkTo(card.id) ? element("a", { href: `#${card.id}` }, nameElement(card.name)) : nameElement(card.name),
    element("span", {}, ` ${className(card.class)}`),
  );
  byId("readers-list").replaceChildren(...view.readers.map(item));
}

function render() {
  const { view } = state;
  if (!view) return;
  const focused = document.activeElement?.closest?.(".mark");
  const place = byId("panels");
  const at = focused ? [...place.children].indexOf(focused.closest("svg")) : -1;
  const edges = filtered(view);
  renderNote(view, edges);
  const beside = place.clientWidth >= 700 && view.runs.length > 1;
  const width = Math.min(720, Math.floor(beside ? (place.clientWidth - 24) / 2 : place.clientWidth));
  const empty = edges.length === 0;
  byId("figure").hidden = empty;
  place.replaceChildren(...(empty ? [] : view.runs.map((_, run) => drawPanel(view, edges, run, width))));
  byId("legend").replaceChildren(...(empty ? [] : [drawLegend(view, edges, Math.min(place.clientWidth, 1100))]));
  renderTable(view, edges);
  renderIntervention(state.without);
  if (at >= 0 && !empty) {
    const kind = focused.classList.contains("edge") ? "edge" : "node";
    const again = place.children[at]?.querySelector(`.mark.${kind}[data-source="${focused.dataset.source}"]`);
    if (again) {
      place.children[at].querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
      again.setAttribute("tabindex", "0");
      again.focus({ focusVisible: true });
    }
  }
}

// The prediction without an edge. An address may name an edge that does not exist.
async function withoutEdge(source, node, signal) {
  try {
    return [await ask("without", { src: source, dst: node }, signal), ""];
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return [null, `${error.message}.`];
  }
}

let going = null;
async function go() {
  if (going) going.abort();
  going = new AbortController();
  const { signal } = going;
  const { node, edge } = chosenPlace();
  const slow = setTimeout(() => say("Computing …"), 150);
  try {
    const walked = !state.view || state.view.node.id !== node || state.stale;
    const view = walked
      ? await ask("node", { id: node, limit: state.limit, ...state.which }, signal)
      : state.view;
    const [without, problem] = edge === null ? [null, ""] : await withoutEdge(edge, node, signal);
    const elsewhere = !state.view || state.view.node.id !== node;
    const first = !state.view;
    Object.assign(state, { view, without, deleted: without ? edge : null, stale: false });
    state.coloured = coloured(view);
    byId("view").hidden = false;
    renderNode(view);
    renderReaders(view);
    render();
    say(problem);
    hush();
    byId("spoken").textContent = without ? interventionInWords(without) : "";
    if (elsewhere && !first) byId("name").focus();
  } catch (error) {
    if (error.name !== "AbortError") say(`${error.message}.`);
  } finally {
    clearTimeout(slow);
  }
}

function prepareFilters() {
  const { runs, most_edges: most } = state.info;
  const [layers, heads] = [Math.max(...runs.map((run) => run.layers)), Math.max(...runs.map((run) => run.heads))];
  const choices = [{ words: "mean of all layers and heads", which: {} }];
  for (let layer = 0; layer < layers && layers * heads > 1; layer += 1) {
    if (layers > 1 && heads > 1) choices.push({ words: `layer ${layer + 1}, mean of heads`, which: { layer } });
    for (let head = 0; head < heads; head += 1) {
      choices.push({ words: `layer ${layer + 1}, head ${head + 1}`, which: { layer, head } });
    }
  }
  byId("which").replaceChildren(...choices.map(({ words }, at) => element("option", { value: at }, words)));
  byId("which").addEventListener("change", () => {
    state.which = choices[byId("which").selectedIndex].which;
    state.stale = true;
    go();
  });
  const sizes = [10, 20, 40, 80, most].filter((size) => size <= most);
  byId("limit").replaceChildren(...sizes.map((size) => element("option", { value: size, selected: size === state.limit }, size)));
  byId("limit").addEventListener("change", () => {
    state.limit = Number(byId("limit").value);
    state.stale = true;
    go();
  });
  byId("effect").addEventListener("change", () => {
    byId("threshold-label").hidden = byId("effect").value === "any";
  });
  for (const id of ["least", "effect", "threshold", "class"]) byId(id).addEventListener("input", render);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

async function start() {
  try {
    state.info = await ask("info");
  } catch (error) {
    say(`The server does not answer: ${error.message}`);
    return;
  }
  const { dataset, nodes, edges, runs } = state.info;
  byId("about").replaceChildren(
    nameElement(dataset), `: ${plural(nodes, "node", "nodes")}, ${plural(edges, "edge", "edges")}. `,
    ...runs.flatMap((run, at) => [at > 0 ? " beside " : "", nameElement(run.name), ` (${run.arch}, ${run.treatment})`]), ".",
  );
  if (still && Object.keys(still.views).length === 1) byId("search").hidden = true;
  prepareFilters();
  window.addEventListener("hashchange", go);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hush();
    if (state.deleted !== null && !event.defaultPrevented) choose(state.view.node.id, null);
  });
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width > 0 && Math.abs(contentRect.width - width) >= 1) {
      width = contentRect.width;
      render();
    }
  }).observe(byId("panels"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  await go();
}

start();
