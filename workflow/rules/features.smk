# Draw the features of a block of cells; what is stored are frequencies and the like, not the features.

FEATURES = JobRule(PIPELINE, "sample")


rule features:
    input:
        FEATURES.input,
    output:
        FEATURES.output,
    log:
        FEATURES.log,
    params:
        job=FEATURES.job,
        code=FEATURES.code,
    resources:
        mem_mb=FEATURES.mem_mb,
        runtime=FEATURES.runtime,
    shell:
        "{STEP} sample --threads {threads} --job {params.job:q} --code {params.code} --results {RESULTS:q}"
        " --output {output:q} 2> {log:q}"
