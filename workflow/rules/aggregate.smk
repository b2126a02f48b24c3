# One table of all cells of a study.


rule aggregate:
    input:
        lambda wildcards: PIPELINE.files(wildcards.study),
        study=lambda wildcards: ancient(PIPELINE.study_files[wildcards.study]),
    output:
        f"{RESULTS}/{{study}}/cells.parquet",
    log:
        f"{RESULTS}/logs/aggregate/{{study}}.log",
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    params:
        settings=lambda wildcards: PIPELINE.settings_of(wildcards.study),
        about=lambda wildcards: PIPELINE.about_cells(wildcards.study),
        code=lambda wildcards: PIPELINE.code("rflib.experiment.aggregate", "rflib.experiment.held"),
        results=subpath(output[0], ancestor=2),
    shell:
        "python -m rflib aggregate --study {input.study:q} --settings {params.settings:q}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
