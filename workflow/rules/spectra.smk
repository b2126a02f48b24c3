# Spectral measures that have no closed form, once for each data, kernel and construction.


rule spectra:
    input:
        lambda wildcards: PIPELINE.meta(wildcards.data),
    output:
        RESULTS + "/spectra/{data}/{kernel}/{measure}.npz",
    log:
        RESULTS + "/logs/spectra/{data}/{kernel}/{measure}.log",
    params:
        source=lambda wildcards: PIPELINE.source(wildcards.data),
        kernel=lambda wildcards: PIPELINE.kernel(wildcards.kernel),
        measure=lambda wildcards: PIPELINE.measure(**wildcards),
        code=lambda wildcards: PIPELINE.measure_code(**wildcards),
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 30 * attempt,
    shell:
        "{STEP} spectra --threads {threads} {params.source} --kernel {params.kernel:q}"
        " --measure {params.measure:q} --output {output:q} 2> {log:q}"
