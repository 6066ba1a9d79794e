async function unpacked(packed, type) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return URL.createObjectURL(new Blob([await new Response(stream).arrayBuffer()], { type }));
}

// A larger file is unpacked when it is asked for.
for (const link of document.querySelectorAll("a[data-packed]")) {
  link.href = "#";
  link.closest("li").hidden = false;
  link.addEventListener("click", async (event) => {
    if (link.protocol === "blob:") return;
    event.preventDefault();
    link.href = await unpacked(link.dataset.packed, link.dataset.type);
    link.click();
  });
}

const { default: DataTable } = await import(await unpacked("{{ component }}", "text/javascript"));

const filters = document.getElementById("filters");
const ledger = new DataTable("#ledger", {
  pageLength: 25,
  lengthMenu: [25, 100, { label: "all", value: -1 }],
  order: [],
  autoWidth: false,
  layout: { topStart: "info", topEnd: "search", bottomStart: "pageLength", bottomEnd: "paging" },
  language: {
    search: "Search", lengthMenu: "_MENU_ rows a page", emptyTable: "no claims",
    info: "_START_ to _END_ of _TOTAL_ claims", infoEmpty: "no claim", infoFiltered: "(out of _MAX_)",
    zeroRecords: "No claim is like that.",
  },
});

const selects = [...filters.querySelectorAll("select")];
const atFirst = Object.fromEntries(selects.map((select) => [select.name, select.value]));

function apply() {
  for (const select of selects) {
    const chosen = select.value;
    const column = ledger.column(select.dataset.column);
    column.search(chosen ? (cell) => cell === chosen : "");
    // The same in every row tells nothing.
    if (select.name === "paper") column.visible(!chosen);
  }
  ledger.draw();
}

// What is shown stands in the address, so that it can be passed on.
function remember() {
  const chosen = selects.filter((select) => select.value !== atFirst[select.name]);
  const words = new URLSearchParams(chosen.map((select) => [select.name, select.value]));
  if (ledger.search()) words.set("search", ledger.search());
  if (words.size || location.hash.startsWith("#ledger?")) history.replaceState(null, "", `#ledger?${words}`);
}

function choose(words) {
  for (const select of selects) select.value = words.get(select.name) ?? atFirst[select.name];
  ledger.search(words.get("search") ?? "");
  apply();
}

filters.addEventListener("change", () => { apply(); remember(); });
filters.addEventListener("reset", () => setTimeout(() => { ledger.search(""); apply(); remember(); }));
ledger.on("search", remember);
filters.hidden = false;

// A count leads to those claims.
for (const link of document.querySelectorAll("a[data-verdict]")) {
  link.addEventListener("click", () => {
    choose(new URLSearchParams({ ...link.dataset, dataset: "" }));
    remember();
  });
}

function fromAddress() {
  const [place, words] = location.hash.split("?");
  choose(new URLSearchParams(place === "#ledger" ? words : ""));
  if (words) document.getElementById("ledger-title").scrollIntoView();
}
fromAddress();
addEventListener("hashchange", () => { if (location.hash.startsWith("#ledger?")) fromAddress(); });

// Paper has no pages to click through and nothing to unfold.
let closed = [];
addEventListener("beforeprint", () => {
  ledger.page.len(-1).draw();
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of closed) part.open = false;
  ledger.page.len(25).draw();
});
