# Spectral measures that have no closed form, once for each data, kernel and construction.

SPECTRA = JobRule(PIPELINE.jobs, "spectra", RESULTS)


rule spectra:
    input:
        SPECTRA.input,
    output:
        SPECTRA.output,
    log:
        SPECTRA.log,
    conda:
        "../envs/rflib.yaml"
    resources:
        mem_mb=SPECTRA.mem_mb,
        runtime=SPECTRA.runtime,
    params:
        job=SPECTRA.job,
        code=SPECTRA.code,
        results=SPECTRA.results,
    shell:
        "python -m rflib spectra --threads {threads} --job {params.job:q} --code {params.code}"
        " --results {params.results:q} --output {output:q} 2> {log:q}"
