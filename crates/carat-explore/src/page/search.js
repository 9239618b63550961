// The search box: suggestions while typing, chosen with the arrow keys and Enter, or with a click.

const box = byId("query");
const list = byId("suggestions");
let found = [];
let chosen = -1;
let typing = null;

function closeList() {
  list.hidden = true;
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
  chosen = -1;
}

function mark(place) {
  chosen = place;
  [...list.querySelectorAll("[role=option]")].forEach((option, at) => {
    option.setAttribute("aria-selected", String(at === place));
    if (at === place) {
      box.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    }
  });
}

function take(card) {
  closeList();
  box.value = "";
  choose(card.id, null);
}

function showFound(answer) {
  found = answer.nodes;
  const options = found.map((card, at) => {
    const facts = [`#${card.id}`, className(card.class), card.year, plural(card.degree, "in-edge", "in-edges")];
    const option = element(
      "li",
      { role: "option", id: `suggestion-${at}`, "aria-selected": "false" },
      nameElement(card.name),
      element("span", {}, facts.filter((fact) => fact !== null).join(" · ")),
    );
    option.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      take(card);
    });
    return option;
  });
  const nothing = element("li", { class: "remark" }, "No node has such a name or number.");
  const more = element("li", { class: "remark" }, "There are more; keep typing.");
  list.replaceChildren(...(found.length === 0 ? [nothing] : options), ...(answer.more ? [more] : []));
  list.hidden = false;
  box.setAttribute("aria-expanded", "true");
  chosen = -1;
}

async function suggest() {
  if (typing) typing.abort();
  typing = new AbortController();
  const query = box.value.trim();
  if (query === "") {
    closeList();
    return;
  }
  try {
    showFound(await ask("search", { q: query }, typing.signal));
  } catch (error) {
    if (error.name !== "AbortError") say(error.message);
  }
}

let pause = null;
box.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(suggest, 60);
});
box.addEventListener("blur", closeList);
box.addEventListener("keydown", async (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (list.hidden) await suggest();
    if (found.length === 0) return;
    const step = event.key === "ArrowDown" ? 1 : -1;
    mark((chosen + step + found.length + (chosen < 0 && step < 0 ? 1 : 0)) % found.length);
  } else if (event.key === "Enter") {
    event.preventDefault();
    clearTimeout(pause);
    if (chosen < 0) await suggest();
    const card = found[Math.max(chosen, 0)];
    if (!list.hidden && card) take(card);
  } else if (event.key === "Escape") {
    event.preventDefault();
    closeList();
  }
});
