# From images and tables to what the models see: deskewing, standardisation, principal components.


rule features:
    input:
        lambda wildcards: f"results/data/{config['features'][wildcards.dataset]['source']}.json",
    output:
        "results/features/{dataset}/{name}.npz",
    params:
        spec=lambda wildcards: config["features"][wildcards.dataset],
        seed=SEED,
        code=code("splits"),
    threads: 1
    message:
        "features of {wildcards.dataset}, {wildcards.name}"
    script:
        "../scripts/features.py"
