# Draw the features of a block of cells; what is stored are frequencies and the like, not the features.

FEATURES = JobRule(PIPELINE.jobs, "sample", RESULTS)


rule features:
    input:
        FEATURES.input,
    output:
        FEATURES.output,
    log:
        FEATURES.log,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=FEATURES.mem_mb,
        runtime=FEATURES.runtime,
    params:
        job=FEATURES.job,
        code=FEATURES.code,
        results=FEATURES.results,
    shell:
        "python -m rflib sample --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
