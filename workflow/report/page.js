async function unpack(packed, type) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return URL.createObjectURL(new Blob([await new Response(stream).arrayBuffer()], { type }));
}

for (const link of document.querySelectorAll("a[data-packed]")) {
  link.addEventListener("click", async (event) => {
    if (link.protocol === "blob:") return;
    event.preventDefault();
    link.href = await unpack(link.dataset.packed, "application/octet-stream");
    link.click();
  });
}

const { default: DataTable } = await import(await unpack(BUNDLE, "text/javascript"));
const filters = document.getElementById("filters");
const table = new DataTable("#claims-table", {
  pageLength: 25,
  lengthMenu: [25, 100, { label: "all", value: -1 }],
  order: [],
  autoWidth: false,
  layout: { topStart: "info", topEnd: "search", bottomStart: "pageLength", bottomEnd: "paging" },
  language: { search: "Search", lengthMenu: "_MENU_ claims per page", info: "_START_ to _END_ of _TOTAL_ claims", infoFiltered: "(out of _MAX_)" },
});

// The address holds the filters, so that a link can show a selection of claims.
function filter() {
  const [place, words] = location.hash.split("?");
  if (place !== "#claims" || words === undefined) return;
  const chosen = new URLSearchParams(words);
  for (const select of filters.querySelectorAll("select")) {
    select.value = chosen.get(select.name) ?? "";
    table.column(select.dataset.column).search(select.value ? (cell) => cell === select.value : "");
  }
  table.draw();
  document.getElementById("claims-title").scrollIntoView();
}
filters.addEventListener("change", () => { location.hash = `claims?${new URLSearchParams(new FormData(filters))}`; });
addEventListener("hashchange", filter);
filters.hidden = false;
filter();

addEventListener("beforeprint", () => {
  table.page.len(-1).draw();
  for (const part of document.querySelectorAll("details")) part.open = true;
});
