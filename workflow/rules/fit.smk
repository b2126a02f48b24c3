# Estimators that take the rows themselves: scores, seconds and memory.

FITS = JobRule(PIPELINE.jobs, "fit", RESULTS)


rule fits:
    input:
        FITS.input,
    output:
        FITS.output,
    log:
        FITS.log,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=FITS.mem_mb,
        runtime=FITS.runtime,
    params:
        job=FITS.job,
        code=FITS.code,
        results=FITS.results,
    shell:
        "python -m rflib fit --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
