# Figures, drawn from the history.
from skem.repro.drawing import KINDS

FIGURES = [f"results/figures/{name}_accuracy_by_pass.{suffix}" for name in REPRODUCED for suffix in KINDS]


rule figure_accuracy_by_pass:
    input:
        history=lambda wildcards: expand(
            "results/history/{dataset}.csv", dataset=datasets_of(wildcards.experiment)
        ),
        claims="config/claims.csv",
    output:
        report(
            "results/figures/{experiment}_accuracy_by_pass.svg",
            category="Accuracy",
            labels={"figure": "{experiment}, accuracy by pass"},
            caption="../report/accuracy_by_pass.rst",
        ),
        "results/figures/{experiment}_accuracy_by_pass.pdf",
        "results/figures/{experiment}_accuracy_by_pass.png",
        csv="results/figures/{experiment}_accuracy_by_pass.csv",
    localrule: True
    params:
        experiment=lambda wildcards: EXPERIMENTS[wildcards.experiment],
        datasets=lambda wildcards: datasets_of(wildcards.experiment),
        code=code("accuracy_by_pass"),
    message:
        "figure of {wildcards.experiment}: accuracy by pass"
    script:
        "../scripts/accuracy_by_pass.py"
