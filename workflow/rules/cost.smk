# Seconds and memory of maps, all maps for a kernel in one job.

COSTS = JobRule(PIPELINE.jobs, "cost", RESULTS)


rule costs:
    input:
        COSTS.input,
    output:
        COSTS.output,
    log:
        COSTS.log,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=COSTS.mem_mb,
        runtime=COSTS.runtime,
    params:
        job=COSTS.job,
        code=COSTS.code,
        results=COSTS.results,
    shell:
        "python -m rflib cost --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
