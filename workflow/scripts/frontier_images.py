"""One method on all training images of a data set, several times where it draws at random."""

from skem.engine import threads
from skem.repro import environment
from skem.repro.files import plain_errors, read_arrays, write_arrays, write_table
from skem.repro.frontier import images
from skem.repro.training.histories import attempt

threads.limit_process(1)
with plain_errors():
    arrays = read_arrays(snakemake.input[0])
    scores, seconds, predictions = [], [], {}
    if arrays:
        names = snakemake.wildcards

        def fit():
            found, spent, predicted = images.fit(
                names.dataset,
                names.method,
                snakemake.params.entry,
                arrays,
                snakemake.params.runs,
                snakemake.params.seed,
                snakemake.params.windows,
            )
            seconds.extend(spent)
            predictions.update(predicted=predicted, y_test=arrays["y_test"])
            return found

        scores = attempt({"dataset": names.dataset, "method": names.method}, fit)
    write_table(snakemake.output.scores, scores)
    write_table(snakemake.output.seconds, seconds)
    write_arrays(snakemake.output.predictions, predictions)
    environment.record(snakemake.output)
