# Learners: on features, and with the exact kernel as the reference.

SCORES = JobRule(PIPELINE.jobs, "train", RESULTS)
EXACT = JobRule(PIPELINE.jobs, "exact", RESULTS)


rule scores:
    input:
        SCORES.input,
    output:
        SCORES.output,
    log:
        SCORES.log,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=SCORES.mem_mb,
        runtime=SCORES.runtime,
        gpu=SCORES.gpu,
    params:
        job=SCORES.job,
        code=SCORES.code,
        results=SCORES.results,
    shell:
        "python -m rflib train --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"


rule exact:
    input:
        EXACT.input,
    output:
        EXACT.output,
    log:
        EXACT.log,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=EXACT.mem_mb,
        runtime=EXACT.runtime,
    params:
        job=EXACT.job,
        code=EXACT.code,
        results=EXACT.results,
    shell:
        "python -m rflib exact --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
