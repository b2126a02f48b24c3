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
        results=SCORES.results,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=SCORES.mem_mb,
        runtime=SCORES.runtime,
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
    params:
        job=EXACT.job,
        code=EXACT.code,
        results=EXACT.results,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=EXACT.mem_mb,
        runtime=EXACT.runtime,
    shell:
        "python -m rflib exact --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
