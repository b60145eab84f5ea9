import { dragAndDrop } from "@formkit/drag-and-drop";
const board = (window.board = { Backlog: ["Paint fence", "Fix roof", "Mow lawn"], Doing: ["Clean gutter"], Done: [] });
const root = document.getElementById("root");
root.innerHTML = `<h1>House</h1><div style="display: flex; gap: 20px">${Object.keys(board).map((name) => `<section><h2>${name}</h2><ul data-list="${name}" style="min-height: 200px; width: 200px; background: #eee; padding: 8px; list-style: none"></ul></section>`).join("")}</div>`;
const draw = (list, cards) => { board[list.dataset.list] = cards; list.replaceChildren(...cards.map((card) => list.querySelector(`[data-card="${card}"]`) ?? document.querySelector(`[data-card="${card}"]`) ?? Object.assign(document.createElement("li"), { textContent: card, style: "padding: 8px; margin: 4px; background: white" }))); for (const item of list.children) item.dataset.card = item.textContent; };
for (const list of root.querySelectorAll("ul")) { draw(list, board[list.dataset.list]); dragAndDrop({ parent: list, getValues: () => board[list.dataset.list], setValues: (cards) => draw(list, cards), config: { group: "house" } }); }
