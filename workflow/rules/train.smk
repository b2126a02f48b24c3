# Learners: on features, and with the exact kernel as the reference.

SCORES = JobRule(PIPELINE, "train")
EXACT = JobRule(PIPELINE, "exact")


rule scores:
    input:
        SCORES.input,
    output:
        SCORES.output,
    log:
        SCORES.log,
    params:
        job=SCORES.job,
        code=SCORES.code,
    resources:
        mem_mb=SCORES.mem_mb,
        runtime=SCORES.runtime,
    shell:
        "{STEP} train --threads {threads} --job {params.job:q} --code {params.code} --results {RESULTS:q}"
        " --output {output:q} 2> {log:q}"


rule exact:
    input:
        EXACT.input,
    output:
        EXACT.output,
    log:
        EXACT.log,
    params:
        job=EXACT.job,
        code=EXACT.code,
    resources:
        mem_mb=EXACT.mem_mb,
        runtime=EXACT.runtime,
    shell:
        "{STEP} exact --threads {threads} --job {params.job:q} --code {params.code} --results {RESULTS:q}"
        " --output {output:q} 2> {log:q}"
