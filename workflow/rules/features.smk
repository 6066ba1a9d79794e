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
        seed=SEED,
        code=code("features"),
    message:
        "features of {wildcards.dataset}, {wildcards.file}"
    script:
        "../scripts/features.py"
