// The picture as a file: all panels with title and legend. Styles are written onto the elements, so that the file needs no
// style sheet and looks the same everywhere.

const LOOKS = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size",
  "font-weight", "text-anchor",
];

function withLooks(original) {
  const copy = original.cloneNode(false);
  const look = getComputedStyle(original);
  for (const name of LOOKS) copy.setAttribute(name, look.getPropertyValue(name));
  if (original.hasAttribute("stroke-width") || original.matches("circle")) {
    copy.setAttribute("stroke-width", look.getPropertyValue("stroke-width"));
  }
  for (const name of ["class", "tabindex", "role", "data-tip", "data-source", "data-largest", "aria-pressed", "aria-disabled"]) {
    copy.removeAttribute(name);
  }
  for (const child of original.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.textContent);
    else if (!child.matches(".hit")) copy.append(withLooks(child));
  }
  return copy;
}

function sheet() {
  const margin = 20;
  const panels = [...document.querySelectorAll("svg.panel")];
  const legend = document.querySelector("svg.legend-picture");
  const size = (svg) => [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
  const width = Math.max(size(legend)[0], panels.reduce((sum, panel) => sum + size(panel)[0] + margin, -margin));
  const tallest = Math.max(...panels.map((panel) => size(panel)[1]));
  const look = getComputedStyle(document.documentElement);
  const [paper, ink] = ["--panel", "--ink"].map((name) => look.getPropertyValue(name).trim());
  const title = `${state.view.node.name}, ${state.info.dataset}`;
  const height = 30 + tallest + 16 + size(legend)[1];
  const whole = drawn("svg", {
    xmlns: SVG,
    viewBox: `${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`,
    width: width + 2 * margin,
    height: height + 2 * margin,
  });
  whole.append(
    drawn("title", {}, title),
    drawn("rect", { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin, fill: paper }),
    drawn(
      "text",
      { x: 0, y: 14, fill: ink, "font-family": "system-ui, sans-serif", "font-size": 16, "font-weight": 600 },
      shortened(title, width, 16, 600),
    ),
  );
  let x = 0;
  for (const panel of panels) {
    const copy = withLooks(panel);
    fill(copy, { x, y: 30 }, []);
    whole.append(copy);
    x += size(panel)[0] + margin;
  }
  const copy = withLooks(legend);
  fill(copy, { x: 0, y: 30 + tallest + 16 }, []);
  whole.append(copy);
  return { text: new XMLSerializer().serializeToString(whole), width: width + 2 * margin, height: height + 2 * margin };
}

function save(blob, ending) {
  const link = element("a", { href: URL.createObjectURL(blob), download: `node-${state.view.node.id}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

byId("save-svg").addEventListener("click", () => save(new Blob([sheet().text], { type: "image/svg+xml" }), "svg"));
byId("save-png").addEventListener("click", async () => {
  const { text, width, height } = sheet();
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  try {
    await picture.decode();
    // Twice the size for sharp screens, but no larger than any browser's canvas.
    const scale = Math.min(2, 8000 / width, 8000 / height);
    const canvas = fill(document.createElement("canvas"), { width: Math.ceil(width * scale), height: Math.ceil(height * scale) }, []);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => (blob ? save(blob, "png") : say("This browser cannot make a PNG of that size; use the SVG.")));
  } catch (error) {
    say(`This browser cannot make a PNG of the picture (${error.message}); use the SVG.`);
  }
});
