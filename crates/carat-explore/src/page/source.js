// Where answers come from: the server, or the data in an exported file.

const still = byId("data") ? JSON.parse(byId("data").textContent) : null;
const MOST_FOUND = 12;

async function ask(what, values = {}, signal = undefined) {
  if (still) return held(what, values);
  const response = await fetch(`/api/${what}?${new URLSearchParams(values)}`, { signal });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const canWalkTo = (node) => !still || Object.hasOwn(still.views, node);

function held(what, values) {
  switch (what) {
    case "info": return still.info;
    case "search": return heldSearch(values.q);
    case "node": return heldNode(values);
    default: {
      const answer = still.withouts[`${values.src}>${values.dst}`];
      if (!answer) throw new Error("this edge is not in the file");
      return answer;
    }
  }
}

function heldNode({ id, limit, layer, head }) {
  const view = canWalkTo(id) ? still.views[id] : null;
  if (!view) throw new Error(`node ${id} is not in this file`);
  const strength = (edge) => Math.max(...edge.runs.map((run) => attentionOf(run, { layer, head })));
  const edges = [...view.edges].sort((one, other) => strength(other) - strength(one));
  return { ...view, edges: edges.slice(0, limit) };
}

function heldSearch(query) {
  const wanted = query.trim().toLowerCase();
  const rank = ({ id, name }) => {
    const folded = name.toLowerCase();
    if (folded === wanted || String(id) === wanted.replace(/^#/, "")) return 0;
    const at = folded.indexOf(wanted);
    return at < 0 ? 3 : at === 0 ? 1 : 2;
  };
  const cards = Object.values(still.views).map((view) => view.node);
  const found = wanted === "" ? [] : cards.filter((card) => rank(card) < 3).sort((a, b) => rank(a) - rank(b));
  return { nodes: found.slice(0, MOST_FOUND), more: found.length > MOST_FOUND };
}
