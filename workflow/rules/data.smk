# Fetch the official files of a data set and turn them into arrays.


rule prepare:
    output:
        meta=RESULTS + "/data/{dataset}/meta.json",
    log:
        RESULTS + "/logs/prepare/{dataset}.log",
    params:
        fetch=lambda wildcards: PIPELINE.fetch_command(wildcards.dataset, STEP),
        raw=lambda wildcards: PIPELINE.raw,
        spec=lambda wildcards: PIPELINE.data_spec(wildcards.dataset),
        code=lambda wildcards: PIPELINE.code("rflib.datasets.prepare"),
        folder=subpath(output.meta, parent=True),
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    shell:
        "( {params.fetch} && "
        "{STEP} prepare --spec {params.spec:q} --raw {params.raw:q} --output {params.folder:q}"
        " ) 2> {log:q}"
