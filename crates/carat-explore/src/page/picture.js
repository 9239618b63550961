// The picture: in-neighbours in a column, the node beside it, an edge from each to the node. One panel per run, with the
// same rows and the same scale. Every edge ends at its own place on the node, so that none hides another.

const BAR = 14;
const DOT = 8;

function geometry(view, edges, width) {
  const [rows, row] = [edges.length, edges.length > 24 ? 25 : 37];
  const names = edges.flatMap(({ source }) => [textWidth(source.name, 12), textWidth(className(source.class), 11)]);
  const label = Math.min(Math.max(40, ...names) + 4, width * 0.45);
  const said = Math.max(92, Math.min(130, width * 0.2));
  const widest = Math.min(18, width / 34);
  const top = 34;
  const body = Math.max(rows * row, 110);
  const dot = label + DOT + 8;
  return { row, said, top, body, dot, widest, bar: width - said - BAR, height: top + body + 8, two: row > 30 };
}

const edgeTip = (view, edge, run) => {
  const said = edge.runs[run];
  const loss = `${number(view.runs[run].loss)} with it, ${number(said.loss_without)} without`;
  return [
    `${inText(edge.source.name)} → ${inText(view.node.name)}`,
    `attention ${number(attentionOf(said, state.which), 4)} (${whichInWords()})`,
    `log-likelihood ${number(said.delta, 3)}: it ${inWords(said.delta)}`,
    ...(said.flips ? ["without it another class is predicted"] : []),
    `loss ${loss}`,
    `the paper's effect ${number(said.effect)} (rho ${number(said.rho, 4)})`,
    ...(edge.spurious === null ? [] : [`${edge.spurious ? "" : "not "}marked as spurious in the data`]),
  ].join("\n");
};

const cardTip = (card, predicted) =>
  [
    `${inText(card.name)} (#${card.id})`,
    `${inText(className(card.class))}, predicted ${inText(className(predicted[0]))} (${number(predicted[1], 2)})`,
    [card.year, card.role, plural(card.degree, "in-edge", "in-edges")].filter((fact) => fact !== null).join(", "),
    ...(canWalkTo(card.id) ? [] : ["not in this file"]),
  ].join("\n");

function dotOf(card, predicted, x, y, radius) {
  const parts = [drawn("circle", { class: `dot ${classOf(card.class)}`, cx: x, cy: y, r: radius })];
  if (card.class !== null && predicted !== card.class) {
    parts.push(drawn("circle", { class: `ring ${classOf(predicted)}`, cx: x, cy: y, r: radius + 3.5 }));
  }
  return parts;
}

const dashes = (width) => `${Math.max(7, width * 1.2).toFixed(1)} ${Math.max(3, width * 0.35).toFixed(1)}`;

function edgeMark(view, edge, run, from, to, width) {
  const { delta } = edge.runs[run];
  const bend = (to.x - from.x) * 0.5;
  const path = `M${from.x},${from.y} C${from.x + bend},${from.y} ${to.x - bend},${to.y} ${to.x},${to.y}`;
  const cut = state.deleted === edge.source.id;
  const text = edgeTip(view, edge, run);
  const mark = drawn(
    "g",
    {
      class: `mark edge${cut ? " cut" : ""}`,
      tabindex: -1,
      role: "button",
      "aria-label": `Delete ${text.replaceAll("\n", ", ")}`,
      "aria-pressed": String(cut),
      "data-tip": text,
      "data-source": edge.source.id,
    },
    drawn("path", { class: "hit", d: path, "stroke-width": Math.max(14, width) }),
    drawn("path", {
      class: "visible",
      d: path,
      stroke: colourOfDelta(delta),
      "stroke-width": width.toFixed(2),
      "stroke-dasharray": misleads(delta) ? dashes(width) : null,
    }),
  );
  mark.addEventListener("click", () => choose(state.view.node.id, cut ? null : edge.source.id));
  return mark;
}

function nodeMark(edge, run, place, y) {
  const { source } = edge;
  const predicted = edge.runs[run].source_predicted;
  const text = cardTip(source, predicted);
  const right = place.dot - DOT - 8;
  const reachable = canWalkTo(source.id);
  const mark = drawn(
    "g",
    {
      class: `mark node${reachable ? "" : " far"}`,
      tabindex: -1,
      role: "link",
      "aria-disabled": reachable ? null : "true",
      "aria-label": `Go to ${text.replaceAll("\n", ", ")}`,
      "data-tip": text,
      "data-source": source.id,
    },
    drawn("rect", { class: "hit", x: 0, y: y - place.row / 2, width: place.dot + DOT + 2, height: place.row }),
    ...dotOf(source, predicted[0], place.dot, y, DOT),
    drawn("text", { class: "name end", x: right, y: place.two ? y - 1 : y + 4 }, shortened(source.name, right, 12)),
    place.two
      ? drawn("text", { class: "end", x: right, y: y + 13 }, shortened(className(source.class), right, 11))
      : null,
  );
  if (reachable) mark.addEventListener("click", () => choose(source.id, null));
  return mark;
}

function centre(view, run, place, middle, height) {
  const said = view.runs[run];
  const left = place.bar + BAR + 7;
  const line = (text, down, kind, weight) =>
    drawn("text", { class: kind, x: left, y: middle + down }, shortened(text, place.said - 8, kind ? 12 : 11, weight));
  // Without the deleted edge, if one is.
  const after = state.without ? state.without.runs[run].after : null;
  const changed = after !== null && after.predicted !== said.predicted;
  const verdict = (after || said).predicted;
  const right = view.node.class === null ? "" : verdict === view.node.class ? "right" : "wrong";
  const chances = [said, after].filter(Boolean).map((one) => number(one.probabilities[said.predicted], 2));
  const probability = `p ${chances.join(" → ")}`;
  return drawn(
    "g",
    {},
    drawn("rect", {
      class: `bar-node ${classOf(view.node.class)}`,
      x: place.bar,
      y: middle - height / 2,
      width: BAR,
      height,
      rx: 5,
    }),
    line("predicted", -18, "", 400),
    line(className(said.predicted), -2, "name strong", 600),
    line(probability, 14, "", 400),
    changed ? line(`→ ${className(after.predicted)}`, 30, "name strong", 600) : null,
    right === "" ? null : line(right, changed ? 46 : 30, right, 600),
  );
}

function drawPanel(view, edges, run, width) {
  const place = geometry(view, edges, width);
  const { largest, width: wide } = widthScale(edges, view.runs, place);
  const widths = edges.map((edge) => wide(attentionOf(edge.runs[run], state.which)));
  const total = widths.reduce((sum, value) => sum + value + 1, 0);
  const middle = place.top + place.body / 2;
  const first = place.top + (place.body - edges.length * place.row) / 2 + place.row / 2;
  let port = middle - total / 2;
  const lines = edges.map((edge, at) => {
    const to = { x: place.bar, y: port + widths[at] / 2 };
    port += widths[at] + 1;
    const from = { x: place.dot + DOT + 4, y: first + at * place.row };
    return edgeMark(view, edge, run, from, to, widths[at]);
  });
  const info = state.info.runs[run];
  const title = `${info.treatment} (${inText(info.name)})`;
  const svg = drawn(
    "svg",
    {
      class: "panel",
      viewBox: `0 0 ${width} ${place.height}`,
      width,
      height: place.height,
      role: "group",
      "aria-label": `In-edges of ${view.node.name}: ${title}`,
      "data-largest": largest,
    },
    drawn("text", { class: "title", x: 0, y: 14 }, shortened(title, width, 13, 600)),
    ...lines,
    centre(view, run, place, middle, Math.max(40, total + 10)),
    ...edges.map((edge, at) => nodeMark(edge, run, place, first + at * place.row)),
  );
  (svg.querySelector(".mark.edge") || svg).setAttribute("tabindex", "0");
  svg.addEventListener("keydown", walkMarks);
  return svg;
}

// Tab moves between panels, up and down between rows, left and right between a row's node and its edge.
function walkMarks(event) {
  const mark = event.target.closest(".mark");
  if (!mark) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    mark.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    return;
  }
  const kind = (name) => [...event.currentTarget.querySelectorAll(`.mark.${name}`)];
  const own = kind(mark.classList.contains("edge") ? "edge" : "node");
  const other = kind(mark.classList.contains("edge") ? "node" : "edge");
  const [at, last] = [own.indexOf(mark), own.length - 1];
  const next = {
    ArrowDown: own[Math.min(at + 1, last)],
    ArrowUp: own[Math.max(at - 1, 0)],
    ArrowLeft: other[at],
    ArrowRight: other[at],
    Home: own[0],
    End: own[last],
  }[event.key];
  if (!next) return;
  event.preventDefault();
  mark.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus({ focusVisible: true });
}
