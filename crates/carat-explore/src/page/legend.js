// What widths, colours and dots mean; part of every downloaded picture as well.

function legendItems(view, edges, largest, scaleWidth) {
  const items = [];
  const text = (x, words) => drawn("text", { x, y: 14 }, words);
  const gradient = Array.from({ length: 40 }, (_, at) =>
    drawn("rect", { x: 60 + at * 3, y: 5, width: 3.2, height: 11, fill: colourOfDelta((at - 19.5) / 10) }));
  items.push({
    space: 60 + 120 + 8 + textWidth("helps", 11),
    parts: [text(0, "misleads"), ...gradient, text(60 + 120 + 8, "helps")],
    words: "Log-likelihood that an edge gives to the class: below 0 it misleads, above 0 it helps",
  });
  items.push({
    space: 34 + textWidth("dashed: misleads", 11),
    parts: [
      drawn("path", {
        class: "visible", d: "M0,10 H28", stroke: colourOfDelta(-1), "stroke-width": 4, "stroke-dasharray": dashes(4),
      }),
      text(34, "dashed: misleads"),
    ],
    words: "Dashed edges mislead: without one, the class would be at least 5 % more probable",
  });
  const sample = number(largest, largest < 0.1 ? 4 : 2);
  items.push({
    space: 34 + textWidth(`attention ${sample}`, 11),
    parts: [
      drawn("path", { class: "visible", d: "M0,10 H28", stroke: colourOfDelta(0), "stroke-width": scaleWidth }),
      text(34, `attention ${sample}`),
    ],
    words: `The widest edge has attention ${sample}`,
  });
  const classes = [view.node.class, ...edges.map((edge) => edge.source.class)];
  const present = [...new Set(classes)].filter((place) => place !== null);
  for (const place of present.filter((one) => state.coloured.includes(one)).sort((one, other) => one - other)) {
    const name = shortened(className(place), 150, 11);
    items.push({
      space: 16 + textWidth(name, 11),
      parts: [drawn("circle", { class: `dot ${classOf(place)}`, cx: 5, cy: 10, r: 5 }), text(16, name)],
      words: null,
    });
  }
  if (present.some((place) => !state.coloured.includes(place))) {
    items.push({
      space: 16 + textWidth("other classes", 11),
      parts: [drawn("circle", { class: "dot reference", cx: 5, cy: 10, r: 5 }), text(16, "other classes")],
      words: null,
    });
  }
  const wrong = edges.some((edge) => edge.source.class !== null
    && edge.runs.some((run) => run.source_predicted[0] !== edge.source.class));
  if (wrong) {
    items.push({
      space: 22 + textWidth("ring: predicted otherwise", 11),
      parts: [
        drawn("circle", { class: "dot unknown", cx: 8, cy: 10, r: 4 }),
        drawn("circle", { class: "ring reference", cx: 8, cy: 10, r: 7.5 }),
        text(22, "ring: predicted otherwise"),
      ],
      words: "A ring has the colour of the class predicted for the node where that is another than its own",
    });
  }
  return items;
}

function drawLegend(view, edges, width) {
  const { largest, width: wide } = widthScale(edges, view.runs, geometry(view, edges, width));
  const items = legendItems(view, edges, largest, wide(largest));
  let [x, y] = [0, 0];
  const groups = items.map(({ space, parts }) => {
    if (x > 0 && x + space > width) [x, y] = [0, y + 22];
    const group = drawn("g", { transform: `translate(${x}, ${y})` }, ...parts);
    x += space + 20;
    return group;
  });
  const words = items.map((item) => item.words).filter(Boolean).join(". ");
  const height = y + 24;
  return drawn(
    "svg",
    { class: "legend-picture", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words },
    ...groups,
  );
}
