# The error of the approximate kernel matrices.


rule errors:
    input:
        lambda wildcards: PIPELINE.meta(wildcards.data),
        features=RESULTS + "/features/{data}/{kernel}/{method}/{block}.npz",
    output:
        RESULTS + "/errors/{data}/{kernel}/{method}/{block}/{error}.parquet",
    log:
        RESULTS + "/logs/errors/{data}/{kernel}/{method}/{block}/{error}.log",
    params:
        source=lambda wildcards: PIPELINE.source(wildcards.data),
        kernel=lambda wildcards: PIPELINE.kernel(wildcards.kernel),
        method=lambda wildcards: PIPELINE.method(wildcards),
        error=lambda wildcards: PIPELINE.error(wildcards.error),
        code=lambda wildcards: PIPELINE.method_code("evaluate", wildcards),
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    shell:
        "{STEP} evaluate --threads {threads} {params.source} --features {input.features:q}"
        " --kernel {params.kernel:q} --method {params.method:q} {params.error}"
        " --fingerprint {params.code} --output {output:q} 2> {log:q}"
