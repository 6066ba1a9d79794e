# From images and tables to what the models see: deskewing, standardisation, principal components.


rule features:
    input:
        lambda wildcards: f"results/data/{config['features'][wildcards.dataset]['source']}.json",
    output:
        "results/features/{dataset}/{file}.npz",
    priority: lambda wildcards: PRIORITY.get(wildcards.dataset, 0)
    threads: 1
    params:
        spec=lambda wildcards: config["features"][wildcards.dataset],
        # Rows and labels are verified by their hash; where the published test set begins is only written down.
        split=lambda wildcards: documents.read("config/datasets.yaml")[
            config["features"][wildcards.dataset]["source"]
        ]["n_train"],
        seed=SEED,
        code=code("features"),
    message:
        "features of {wildcards.dataset}, {wildcards.file}"
    script:
        "../scripts/features.py"
