"""Draw the synthetic examples of figures 3 to 5, and accuracy against lambda on images."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from skem import plots, splits, threads, titsias_examples, titsias_tables
from skem.files import plain_errors, read_table, write

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "skem"
threads.limit_process(1)
# What the paper's panels (a) and (b) show.
PANELS = {
    "figure3": ("shared", "unsupervised"),
    "figure4": ("separate", "shared"),
    "figure5": ("separate", "shared"),
}
WORDS = {
    "shared": "two shared kernels (lambda = 1)",
    "separate": "one kernel per class (lambda = 0)",
    "unsupervised": "two kernels, without labels",
}
IMAGES = {"mnist": "MNIST, 3x13, K = 60", "fashion_mnist": "Fashion-MNIST, 10x15, K = 100"}


def examples(setup, root):
    figure = Figure(figsize=(9, 9), layout="constrained")
    axes = figure.subplots(len(PANELS), 2, gridspec_kw={"height_ratios": (5, 3, 3)})
    for row, (name, panels) in zip(axes, PANELS.items(), strict=True):
        seed = splits.seed(root, name, 0)
        X, y = titsias_examples.draw(name, setup["n_rows"], seed)
        found = titsias_examples.fits(X, y, seed % 2**31)
        for ax, panel in zip(row, panels, strict=True):
            title = f"Figure {name[-1]}: {WORDS[panel]}"
            plots.kernels(X, y, found[panel][1], title=title, ax=ax)
    axes[0, 0].legend(frameon=False, fontsize=8, loc="best")
    return figure


with plain_errors():
    if snakemake.wildcards.figure == "titsias_figures3to5":
        figure = examples(snakemake.params.setup, snakemake.params.seed)
    else:
        names = [Path(path).stem for path in snakemake.input]
        table = titsias_tables.gathered(map(read_table, snakemake.input))
        figure = plots.accuracy_by_sharing(table, {name: IMAGES[name] for name in names})
    for path in snakemake.output:
        kind = Path(path).suffix[1:]
        extra = (
            {"dpi": 150}
            if kind == "png"
            else {"metadata": {"CreationDate" if kind == "pdf" else "Date": None}}
        )
        write(path, lambda file, kind=kind, extra=extra: figure.savefig(file, format=kind, **extra))
