# One rule for each kind of job: measures, features, kernel errors, scores, exact kernels, estimators and costs. What each
# reads, needs and does is in rflib/experiment.


for kind in JOBS.values():
    RULE = JobRule(PIPELINE.jobs, kind, RESULTS)

    rule:
        name:
            kind.folder
        input:
            RULE.input,
        output:
            RULE.output,
        log:
            RULE.log,
        conda:
            "../envs/rflib.yaml"
        resources:
            mem_mb=RULE.mem_mb,
            runtime=RULE.runtime,
            gpu=RULE.gpu,
        params:
            step=RULE.step,
            job=RULE.job,
            code=RULE.code,
            results=RULE.results,
        shell:
            "python -m rflib {params.step} --threads {threads} --job {params.job:q} --code {params.code}"
            " --results {params.results:q} --output {output:q} 2> {log:q}"
