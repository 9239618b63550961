"use strict";
// What a page does when it is touched: tips of marks, and tables that sort. Without this script the page is whole: marks
// keep their native tips, and tables stay in the report's order.

// Tips. One box follows the pointer; texts come from the marks' titles and are only ever set as text.
const box = document.createElement("div");
box.className = "tip";
box.hidden = true;
document.body.append(box);
let told = null;

function textOf(mark) {
  const title = mark.querySelector(":scope > title");
  if (title) {
    // Else the browser would show its own tip as well. Screen readers keep the text.
    mark.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  return mark.getAttribute("aria-label") || "";
}

function tell(mark, x, y) {
  if (told !== mark) {
    hush();
    told = mark;
    mark.classList.add("told");
    box.textContent = textOf(mark);
    box.hidden = false;
  }
  const [gap, wide, high] = [14, box.offsetWidth, box.offsetHeight];
  const room = document.documentElement.clientWidth;
  const left = x + gap + wide <= room - 4 ? x + gap : x - gap - wide;
  const top = y - gap - high >= 4 ? y - gap - high : y + gap;
  box.style.left = `${Math.max(4, Math.min(left, room - wide - 4))}px`;
  box.style.top = `${top}px`;
}

function hush() {
  if (told) told.classList.remove("told");
  told = null;
  box.hidden = true;
}

// The mark under the pointer, else the nearest dot within reach of a finger.
function markAt(event) {
  const direct = event.target.closest(".mark");
  const panel = event.target.closest("svg");
  if (direct || !panel) return direct;
  const frame = panel.getBoundingClientRect();
  const scale = frame.width / panel.viewBox.baseVal.width;
  const reach = event.pointerType === "touch" ? 22 : 10;
  let [nearest, least] = [null, reach * reach];
  for (const dot of panel.querySelectorAll("circle.mark")) {
    const across = frame.left + dot.cx.baseVal.value * scale - event.clientX;
    const down = frame.top + dot.cy.baseVal.value * scale - event.clientY;
    const distance = across * across + down * down;
    if (distance < least) [nearest, least] = [dot, distance];
  }
  return nearest;
}

function point(event) {
  const mark = event.target instanceof Element ? markAt(event) : null;
  if (mark) tell(mark, event.clientX, event.clientY);
  else hush();
}

document.addEventListener("pointermove", point);
document.addEventListener("pointerdown", point);
document.addEventListener("scroll", hush, { capture: true, passive: true });
document.addEventListener("focusin", (event) => {
  const mark = event.target.closest(".mark");
  if (!mark || !mark.matches(":focus-visible")) return;
  const frame = mark.getBoundingClientRect();
  tell(mark, frame.left + frame.width / 2, frame.top + frame.height / 2);
});
document.addEventListener("focusout", hush);

// The tabulator key goes from panel to panel, arrow keys from mark to mark.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hush();
  const mark = event.target.closest(".mark");
  if (!mark) return;
  const marks = [...mark.closest("svg").querySelectorAll(".mark")];
  const last = marks.length - 1;
  const at = marks.indexOf(mark);
  const next = {
    ArrowRight: Math.min(at + 1, last),
    ArrowDown: Math.min(at + 1, last),
    ArrowLeft: Math.max(at - 1, 0),
    ArrowUp: Math.max(at - 1, 0),
    Home: 0,
    End: last,
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  mark.setAttribute("tabindex", "-1");
  marks[next].setAttribute("tabindex", "0");
  marks[next].focus({ focusVisible: true });
});

// Sorting. Numbers by what stands behind them, words as words; cells without a number come last either way.
function compare(one, other) {
  const numbers = [one, other].map((cell) => (cell.dataset.value === undefined ? null : Number(cell.dataset.value)));
  if (numbers[0] !== null && numbers[1] !== null) return Math.sign(numbers[0] - numbers[1]) || 0;
  return one.textContent.localeCompare(other.textContent, "en", { numeric: true });
}

function sort(heading) {
  const table = heading.closest("table");
  const body = table.tBodies[0];
  const place = heading.cellIndex;
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const numeric = heading.classList.contains("number");
  const missing = (row) => (numeric && row.cells[place].dataset.value === undefined ? 1 : 0);
  const rows = [...body.rows];
  const any = rows.some((row) => !missing(row));
  rows.sort((one, other) => {
    if (any && missing(one) !== missing(other)) return missing(one) - missing(other);
    const order = compare(one.cells[place], other.cells[place]);
    return down ? -order : order;
  });
  body.append(...rows);
}

// No button elements: browsers do not print these again where a table goes on to the next page.
for (const heading of document.querySelectorAll("thead th")) {
  const button = document.createElement("span");
  button.setAttribute("role", "button");
  button.tabIndex = 0;
  button.append(...heading.childNodes);
  heading.append(button);
  heading.setAttribute("aria-sort", "none");
  heading.addEventListener("click", () => sort(heading));
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    sort(heading);
  });
}
