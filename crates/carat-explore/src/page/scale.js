// From numbers to widths and colours.

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Attention of an edge in one run: of a layer, of a head, or the mean of all. What the run has not counts as all.
function attentionOf(run, { layer, head }) {
  const layers = run.attention[layer] ? [run.attention[layer]] : run.attention;
  return mean(layers.flatMap((heads) => (heads[head] === undefined ? heads : [heads[head]])));
}

// The middle is an edge that makes no difference. Below lies what misleads: such edges are dashed as well, so that
// nobody has to tell the colours apart.
const MISLEADS = 0.45;
const HELPS = 0.55;
const inWords = (effect) => (effect < MISLEADS ? "misleads" : effect > HELPS ? "helps" : "makes little difference");

const themeColours = (name) => {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
};

function colourOfEffect(effect) {
  const [misleads, neutral, helps] = ["--misleads", "--neutral", "--helps"].map(themeColours);
  const [end, share] = effect < 0.5 ? [misleads, 1 - 2 * effect] : [helps, 2 * effect - 1];
  const mixed = neutral.map((from, at) => Math.round(from + (end[at] - from) * share));
  return `rgb(${mixed.join(", ")})`;
}

const COLOURS = 8;
const classOf = (place) => (place === null || place === undefined ? "unknown" : `series-${place % COLOURS}`);
const className = (place) => (place === null || place === undefined ? "no class" : state.info.classes[place]);

// Pixels per unit of attention: the same in all panels, so that they compare; the widest edge and the sum of all have
// their limits.
const WIDEST = 18;
function widthScale(edges, runs, height) {
  const strengths = runs.map((_, run) => edges.map((edge) => attentionOf(edge.runs[run], state.which)));
  const largest = Math.max(1e-9, ...strengths.flat());
  const total = Math.max(1e-9, ...strengths.map((row) => row.reduce((sum, value) => sum + value, 0)));
  const scale = Math.min(WIDEST / largest, (0.8 * height) / total);
  return { largest, width: (attention) => Math.max(0.75, attention * scale) };
}
