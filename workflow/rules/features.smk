# Draw the features of a block of cells; what is stored are frequencies and the like, not the features.


rule features:
    input:
        lambda wildcards: PIPELINE.meta(wildcards.data),
        spectrum=lambda wildcards: PIPELINE.spectrum(wildcards),
    output:
        RESULTS + "/features/{data}/{kernel}/{method}/{block}.npz",
    log:
        RESULTS + "/logs/features/{data}/{kernel}/{method}/{block}.log",
    params:
        source=lambda wildcards: PIPELINE.source(wildcards.data),
        kernel=lambda wildcards: PIPELINE.kernel(wildcards.kernel),
        method=lambda wildcards: PIPELINE.method(wildcards),
        block=lambda wildcards: PIPELINE.block(wildcards),
        spectrum=lambda wildcards: PIPELINE.spectrum_option(wildcards),
        code=lambda wildcards: PIPELINE.method_code("sample", wildcards),
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    shell:
        "{STEP} sample --threads {threads} {params.source}"
        " --identity {wildcards.data}/{wildcards.kernel}/{wildcards.method}"
        " --kernel {params.kernel:q} --method {params.method:q} {params.spectrum} {params.block}"
        " --output {output:q} 2> {log:q}"
