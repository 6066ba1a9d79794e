"""The ledger of the committed reference once more, from its own files."""

from skem.repro.files import plain_errors
from skem.repro.papers import ledgers

with plain_errors():
    different = ledgers.recompute("results/reference", "results/recomputed")
    if different:
        raise ValueError(f"not as in results/reference: {', '.join(different)}; see results/recomputed")
    print("the ledger of results/reference is what its values give, byte for byte")
