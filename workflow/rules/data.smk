# Fetch the official files of a data set, or take the user's, and turn them into arrays. The folder of a user's file
# is named by its content, so its time says nothing.


rule prepare:
    input:
        lambda wildcards: ancient(PIPELINE.user_files(wildcards.dataset)),
    output:
        f"{RESULTS}/data/{{dataset}}/meta.json",
    log:
        f"{RESULTS}/logs/prepare/{{dataset}}.log",
    localrule: True
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        fetch=lambda wildcards: PIPELINE.has_files(wildcards.dataset),
        raw=lambda wildcards: PIPELINE.raw,
        spec=lambda wildcards: PIPELINE.data_spec(wildcards.dataset),
        code=lambda wildcards: PIPELINE.data_code(wildcards.dataset),
        # Of the output, so that Snakemake does not take another mirror for a reason to run again.
        mirrors=lambda wildcards, output: PIPELINE.mirror_options,
        folder=subpath(output[0], parent=True),
    shell:
        "( if [ {params.fetch} = True ]; then"
        " python -m rflib fetch --name {wildcards.dataset:q} --folder {params.raw:q} {params.mirrors};"
        " fi; python -m rflib prepare --spec {params.spec:q} --raw {params.raw:q} --output {params.folder:q}"
        " ) 2> {log:q}"
