# Fetch the official files of a data set, or take the user's, and turn them into arrays. The folder of a user's file
# is named by its content, so its time says nothing.


rule prepare:
    localrule: True
    input:
        lambda wildcards: ancient(PIPELINE.user_files(wildcards.dataset)),
    output:
        meta=f"{RESULTS}/data/{{dataset}}/meta.json",
    log:
        f"{RESULTS}/logs/prepare/{{dataset}}.log",
    params:
        fetch=lambda wildcards: PIPELINE.has_files(wildcards.dataset),
        raw=lambda wildcards: PIPELINE.raw,
        spec=lambda wildcards: PIPELINE.data_spec(wildcards.dataset),
        code=lambda wildcards: PIPELINE.data_code(wildcards.dataset),
        folder=subpath(output.meta, parent=True),
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    shell:
        "( if [ {params.fetch} = True ]; then"
        " {STEP} fetch --name {wildcards.dataset:q} --folder {params.raw:q} {PIPELINE.mirror_options};"
        " fi; {STEP} prepare --spec {params.spec:q} --raw {params.raw:q} --output {params.folder:q}"
        " ) 2> {log:q}"
