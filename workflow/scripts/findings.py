"""Write the numbers of the committed results into the pages that state them."""

from skem.repro.files import plain_errors, write_text
from skem.repro.report import prose

with plain_errors():
    changed = prose.refresh(".")
    for path, text in changed.items():
        write_text(path, text)
    print(
        f"new numbers in {', '.join(map(str, changed))}"
        if changed
        else "all numbers are those of results/reference"
    )
