# From images and tables to what the models see: deskewing, standardisation, principal components.


rule features:
    input:
        lambda wildcards: f"results/data/{STUDY.config.datasets[wildcards.dataset].features['source']}.json",
    output:
        "results/features/{dataset}/{file}.npz",
    priority: lambda wildcards: PRIORITY.get(wildcards.dataset, 0)
    threads: 1
    params:
        spec=lambda wildcards: STUDY.config.datasets[wildcards.dataset].features,
        # Rows and labels are verified by their hash; where the published test set begins is only written down.
        split=lambda wildcards: STUDY.described[STUDY.config.datasets[wildcards.dataset].features["source"]][
            "n_train"
        ],
        seed=SEED,
        code=code("features"),
    message:
        "features of {wildcards.dataset}, {wildcards.file}"
    script:
        "../scripts/features.py"
