# From images and tables to the inputs of models: deskewing, standardisation, principal components.


rule features:
    input:
        lambda wildcards: f"results/data/{spec_of(wildcards)['source']}.json",
    output:
        "results/features/{dataset}/{file}.npz",
    log:
        "results/logs/features/{dataset}/{file}.log",
    priority: by_size
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
    params:
        spec=spec_of,
        # Samples and labels are verified by their hash; the start of the published test set is only written down.
        split=lambda wildcards: datasets.describe(spec_of(wildcards)["source"])["n_train"],
        seed=SEED,
    message:
        "features of {wildcards.dataset}, {wildcards.file}"
    script:
        "../scripts/features.py"
