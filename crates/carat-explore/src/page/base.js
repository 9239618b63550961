"use strict";
// What all parts of the page use: elements made of text, formatted numbers, and the tip that follows the pointer. Names of
// nodes come from untrusted files; they reach the page as text nodes and attributes, never as markup.

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const element = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const drawn = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A name within other text. Its writing direction does not change that of the text around it.
const inText = (name) => `\u2068${name}\u2069`;
const nameElement = (name) => element("bdi", {}, name);

function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "none";
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits) return value.toExponential(1);
  return Math.abs(value) >= 1e5 ? value.toExponential(2) : value.toFixed(digits);
}

const thousands = (value) => value.toLocaleString("en-GB");
const plural = (count, one, many) => `${thousands(count)} ${count === 1 ? one : many}`;

const pen = document.createElement("canvas").getContext("2d");
function textWidth(text, size, weight = 400) {
  pen.font = `${weight} ${size}px system-ui, sans-serif`;
  return pen.measureText(text).width;
}

// Cuts a text to the available width, with an ellipsis.
function shortened(text, space, size, weight) {
  if (textWidth(text, size, weight) <= space) return text;
  const letters = [...new Intl.Segmenter().segment(text)].map((part) => part.segment);
  let [fits, tooMany] = [0, letters.length];
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (textWidth(`${letters.slice(0, middle).join("")}…`, size, weight) <= space) fits = middle;
    else tooMany = middle;
  }
  return `${letters.slice(0, fits).join("").trimEnd()}…`;
}

// Tips: one box that follows the pointer, or is placed beside the focused element.
const tip = element("div", { class: "tip", hidden: true });
document.body.append(tip);
let told = null;

function hush() {
  told = null;
  tip.hidden = true;
}

function tell(mark, x, y) {
  if (told !== mark) {
    told = mark;
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
  }
  const [gap, wide, high] = [14, tip.offsetWidth, tip.offsetHeight];
  const space = document.documentElement.clientWidth;
  const left = x + gap + wide <= space - 4 ? x + gap : x - gap - wide;
  tip.style.left = `${Math.max(4, Math.min(left, space - wide - 4))}px`;
  tip.style.top = `${y - gap - high >= 4 ? y - gap - high : y + gap}px`;
}

document.addEventListener("pointermove", (event) => {
  const mark = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
  if (mark) tell(mark, event.clientX, event.clientY);
  else hush();
});
document.addEventListener("focusin", (event) => {
  const mark = event.target.closest("[data-tip]");
  if (!mark || !mark.matches(":focus-visible")) return;
  const frame = (mark.querySelector("circle, .visible") || mark).getBoundingClientRect();
  tell(mark, frame.left + frame.width / 2, frame.top + frame.height / 2);
});
document.addEventListener("focusout", hush);
document.addEventListener("scroll", hush, { capture: true, passive: true });
