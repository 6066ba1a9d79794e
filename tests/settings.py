"""Settings of synthetic histories, from names as people write them."""

from skem.repro.training.settings import COLUMNS, blocks_of


def described(name, **more):
    """`COLUMNS` of "3x12-K40", with or without a regularisation after it; nothing of a name such as "preset"."""
    columns = dict.fromkeys(COLUMNS) | more
    partition, _, rest = name.partition("-")
    if "x" not in partition:
        return columns
    n_blocks, block_size = blocks_of(partition)
    columns |= {"partition": partition, "n_blocks": n_blocks, "block_size": block_size}
    columns["n_features"] = n_blocks * block_size
    if rest.startswith("K"):
        columns["n_components"] = int(rest[1:].partition("-")[0])
    return columns
