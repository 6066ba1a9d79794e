// Pages of claims have a box that hides the claims without its words; headings count as words of their claims.
document.addEventListener("DOMContentLoaded", () => {
  const isClaims = (table) => table.tHead?.textContent.trim().startsWith("statement");
  const tables = [...document.querySelectorAll("article table")].filter(isClaims);
  if (!tables.length) return;
  const words = new Map();
  for (const row of tables.flatMap((table) => [...table.tBodies[0].rows])) {
    let text = row.textContent;
    for (let part = row.closest("section"); part; part = part.parentElement.closest("section")) {
      text += ` ${part.querySelector("h1, h2, h3").textContent}`;
    }
    words.set(row, text.toLowerCase());
  }
  const label = document.createElement("label");
  const input = document.createElement("input");
  const shown = document.createElement("output");
  label.className = "filter";
  input.type = "search";
  input.placeholder = "paper, outcome, data set, method";
  label.append("Show claims with ", input, " ", shown);
  document.querySelector("article section section").before(label);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase().split(/\s+/);
    for (const [row, text] of words) row.hidden = !wanted.every((word) => text.includes(word));
    for (const table of tables) {
      (table.closest(".pst-scrollable-table-container") ?? table).hidden = ![...table.tBodies[0].rows].some((row) => !row.hidden);
    }
    shown.value = `${[...words.keys()].filter((row) => !row.hidden).length} of ${words.size}`;
  });
});

// Tables and figures that are wider than their place say so.
const markWide = () => {
  for (const box of document.querySelectorAll(".pst-scrollable-table-container, .drawing, article p:has(> img)")) {
    box.classList.toggle("moves", box.scrollWidth > box.clientWidth + 2);
  }
};
addEventListener("load", markWide);
addEventListener("resize", markWide);
