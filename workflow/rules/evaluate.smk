# The error of the approximate kernel matrices.

ERRORS = JobRule(PIPELINE.jobs, "evaluate", RESULTS)


rule errors:
    input:
        ERRORS.input,
    output:
        ERRORS.output,
    log:
        ERRORS.log,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=ERRORS.mem_mb,
        runtime=ERRORS.runtime,
        gpu=ERRORS.gpu,
    params:
        job=ERRORS.job,
        code=ERRORS.code,
        results=ERRORS.results,
    shell:
        "python -m rflib evaluate --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
