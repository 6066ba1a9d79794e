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

function apply() {
  for (const select of filters.querySelectorAll("select")) {
    const chosen = select.value;
    ledger.column(select.dataset.column).search(chosen ? (cell) => cell === chosen : "");
  }
  ledger.draw();
}

filters.addEventListener("change", apply);
filters.addEventListener("reset", () => setTimeout(() => { ledger.search(""); apply(); }));
filters.hidden = false;

// A count of verdicts leads to those claims.
for (const link of document.querySelectorAll("a[data-verdict]")) {
  link.addEventListener("click", () => {
    filters.elements.paper.value = link.dataset.paper;
    filters.elements.dataset.value = "";
    filters.elements.verdict.value = link.dataset.verdict;
    ledger.search("");
    apply();
  });
}
apply();

// Paper has no pages to click through and nothing to unfold.
const closed = [...document.querySelectorAll("details:not([open])")];
addEventListener("beforeprint", () => {
  ledger.page.len(-1).draw();
  for (const part of closed) part.open = true;
});
addEventListener("afterprint", () => {
  ledger.page.len(25).draw();
  for (const part of closed) part.open = false;
});
