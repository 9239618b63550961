// Maps numbers to widths and colours.

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Attention of an edge in one run: of a layer, of a head, or the mean of all. If the run lacks the layer or head, all
// count.
function attentionOf(run, { layer, head }) {
  const layers = run.attention[layer] ? [run.attention[layer]] : run.attention;
  return mean(layers.flatMap((heads) => (heads[head] === undefined ? heads : [heads[head]])));
}

// What an edge does is the log-likelihood, delta, that it gives to the true class. A change of less than 5 % of the
// probability makes little difference. Edges that mislead are also dashed, so that colour is not the only sign.
const NOTICEABLE = 0.05;
const misleads = (delta) => delta <= -NOTICEABLE;
const inWords = (delta) => (misleads(delta) ? "misleads" : delta >= NOTICEABLE ? "helps" : "makes little difference");

const themeColours = (name) => {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
};

// The stronger, the larger the share of the probability that goes with the edge, or without it.
function colourOfDelta(delta) {
  const [against, neutral, helps] = ["--misleads", "--neutral", "--helps"].map(themeColours);
  const share = Math.abs(delta) < NOTICEABLE ? 0 : 1 - Math.exp(-Math.abs(delta) - 0.2);
  const end = delta < 0 ? against : helps;
  const mixed = neutral.map((from, at) => Math.round(from + (end[at] - from) * share));
  return `rgb(${mixed.join(", ")})`;
}

// Eight colours can be told apart. If there are more classes, the most frequent ones in a view get them; the others are
// grey. Names are beside the dots in any case.
const COLOURS = 8;
function coloured(view) {
  const all = [...state.info.classes.keys()];
  if (all.length <= COLOURS) return all;
  const counts = new Map();
  const count = (place, weight) => {
    if (place !== null) counts.set(place, (counts.get(place) || 0) + weight);
  };
  count(view.node.class, 1e6);
  for (const edge of view.edges) {
    count(edge.source.class, 1);
    for (const run of edge.runs) count(run.source_predicted[0], 0.1);
  }
  for (const said of view.runs) count(said.predicted, 1);
  return [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one) || one - other).slice(0, COLOURS);
}

function classOf(place) {
  if (place === null || place === undefined) return "unknown";
  const at = state.coloured.indexOf(place);
  return at < 0 ? "reference" : `series-${at}`;
}

const className = (place) => (place === null || place === undefined ? "no class" : state.info.classes[place]);

// Pixels per unit of attention: the same in all panels, so that they can be compared. The widest edge and the sum of all
// are limited.
function widthScale(edges, runs, { body, widest }) {
  const strengths = runs.map((_, run) => edges.map((edge) => attentionOf(edge.runs[run], state.which)));
  const largest = Math.max(1e-9, ...strengths.flat());
  const total = Math.max(1e-9, ...strengths.map((row) => row.reduce((sum, value) => sum + value, 0)));
  const scale = Math.min(widest / largest, (0.8 * body) / total);
  return { largest, width: (attention) => Math.max(0.75, attention * scale) };
}
