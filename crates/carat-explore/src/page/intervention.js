// A node's prediction with and without an edge.

const MOST_BARS = 6;
const FEW_BARS = 4;

// The classes that get a bar: the node's own, the predicted ones, and the most probable.
function classesShown(before, after, most) {
  const places = [...before.probabilities.keys()];
  const weight = (place) => Math.max(before.probabilities[place], after.probabilities[place]);
  const first = [before.judged_by, before.predicted, after.predicted];
  const rest = places.sort((one, other) => weight(other) - weight(one));
  return [...new Set([...first, ...rest])].slice(0, most).sort((one, other) => weight(other) - weight(one));
}

function bar(kind, probability) {
  const filled = element("span", { class: `bar ${kind}` });
  filled.style.width = `${(100 * probability).toFixed(2)}%`;
  return element("span", { class: "track" }, filled);
}

function probabilityBars(said, after) {
  const rows = classesShown(said, after || said, after ? MOST_BARS : FEW_BARS).map((place) => {
    const values = [said, after].filter(Boolean).map((one) => one.probabilities[place]);
    const own = place === said.judged_by ? "own" : null;
    const numbers = values.map((value) => number(value, 3)).join(" → ");
    return element(
      "div",
      { class: "probability" },
      element("span", { class: `class-name ${own || ""}` }, nameElement(className(place))),
      element("span", { class: "bars" }, ...values.map((value, at) => bar(at === 0 ? "before" : "after", value))),
      element("span", { class: "value" }, numbers),
    );
  });
  return element("div", { class: "probabilities" }, ...rows);
}

function outcome(run, said) {
  const [before, after] = [said.before, said.after];
  const changed = before.predicted !== after.predicted;
  const prediction = changed
    ? ["The prediction changes from ", nameElement(className(before.predicted)), " to ", nameElement(className(after.predicted)), "."]
    : ["The prediction stays ", nameElement(className(before.predicted)), "."];
  const facts = `Loss ${number(before.loss)} with the edge, ${number(after.loss)} without. The edge gives ${number(said.delta, 3)} of log-likelihood: it ${inWords(said.delta)}. The paper's effect is ${number(said.effect)} (rho ${number(said.rho, 4)}).`;
  const info = state.info.runs[run];
  return element(
    "div",
    { class: "outcome" },
    element("h3", {}, info.treatment, " (", nameElement(info.name), ")"),
    element("p", { class: changed ? "changed" : null }, ...prediction),
    probabilityBars(before, after),
    element("p", { class: "facts" }, facts),
  );
}

// The same as text for screen readers.
function interventionInWords(answer) {
  const each = answer.runs.map(({ before, after, delta }, run) => {
    const changed = before.predicted !== after.predicted ? `changes to ${className(after.predicted)}` : "stays";
    return `${shortRun(run)}: the prediction ${changed}, loss ${number(before.loss)} to ${number(after.loss)}, the edge ${inWords(delta)}`;
  });
  return `Without the edge from ${inText(answer.source.name)}. ${each.join(". ")}.`;
}

function renderIntervention(answer) {
  const place = byId("intervention");
  if (!answer) {
    place.hidden = true;
    place.replaceChildren();
    return;
  }
  const close = element("button", { type: "button", id: "restore" }, "Put the edge back");
  close.addEventListener("click", () => choose(answer.node.id, null));
  place.replaceChildren(
    element(
      "div",
      { class: "title-line" },
      element("h2", { id: "intervention-heading" }, "Without the edge from ", nameElement(answer.source.name)),
      close,
    ),
    element("p", { class: "facts" }, "Upper bars: with all edges. Lower bars: with only this edge deleted."),
    element("div", { class: "outcomes" }, ...answer.runs.map((said, run) => outcome(run, said))),
  );
  place.hidden = false;
}
