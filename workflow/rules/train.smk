# Learners: on features, and with the exact kernel as the reference.


rule scores:
    input:
        lambda wildcards: PIPELINE.meta(wildcards.data),
        features=RESULTS + "/features/{data}/{kernel}/{method}/{block}.npz",
    output:
        RESULTS + "/scores/{data}/{kernel}/{method}/{block}/{learner}.parquet",
    log:
        RESULTS + "/logs/scores/{data}/{kernel}/{method}/{block}/{learner}.log",
    params:
        source=lambda wildcards: PIPELINE.source(wildcards.data),
        kernel=lambda wildcards: PIPELINE.kernel(wildcards.kernel),
        method=lambda wildcards: PIPELINE.method(wildcards),
        learner=lambda wildcards: PIPELINE.learner(wildcards.learner),
        code=lambda wildcards: PIPELINE.method_code(
            "train", wildcards, PIPELINE.learner_module(wildcards.learner)
        ),
    resources:
        mem_mb=lambda wildcards, attempt: PIPELINE.memory(wildcards) * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "{STEP} train --threads {threads} {params.source} --features {input.features:q}"
        " --kernel {params.kernel:q} --method {params.method:q} --learner {params.learner:q}"
        " --fingerprint {params.code} --output {output:q} 2> {log:q}"


rule exact:
    input:
        lambda wildcards: PIPELINE.meta(wildcards.data),
    output:
        RESULTS + "/exact/{data}/{kernel}/{job}.parquet",
    log:
        RESULTS + "/logs/exact/{data}/{kernel}/{job}.log",
    params:
        source=lambda wildcards: PIPELINE.source(wildcards.data),
        kernel=lambda wildcards: PIPELINE.kernel(wildcards.kernel),
        learner=lambda wildcards: PIPELINE.exact_learner(wildcards),
        seeds=lambda wildcards: PIPELINE.exact_seeds(wildcards),
        code=lambda wildcards: PIPELINE.exact_code(wildcards),
    resources:
        mem_mb=lambda wildcards, attempt: PIPELINE.exact_memory(wildcards) * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    shell:
        "{STEP} exact --threads {threads} {params.source} --kernel {params.kernel:q}"
        " --learner {params.learner:q} {params.seeds}"
        " --fingerprint {params.code} --output {output:q} 2> {log:q}"
