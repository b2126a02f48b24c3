# Tables, figures and the page: redrawn from the cells, never recomputing one.

# Parts of a study file that decide what its tables and figures show, and in which order.
LABELS = ("datasets", "kernels", "methods", "learners")


rule tables:
    localrule: True
    input:
        lambda wildcards: PIPELINE.published(PUBLISHED, wildcards.study, "tables", "claims"),
        cells=RESULTS + "/{study}/cells.parquet",
    output:
        directory(RESULTS + "/{study}/tables"),
    log:
        RESULTS + "/logs/tables/{study}.log",
    params:
        options=lambda wildcards: PIPELINE.part(wildcards.study, "tables", "claims", *LABELS),
        code=lambda wildcards: PIPELINE.code("rflib.report.tables"),
    shell:
        "{STEP} tables --study {STUDIES:q}/{wildcards.study}.yaml --cells {input.cells:q} --published {PUBLISHED:q} --out {output:q}"
        " 2> {log:q}"


rule figures:
    localrule: True
    input:
        lambda wildcards: PIPELINE.published(PUBLISHED, wildcards.study, "figures"),
        cells=RESULTS + "/{study}/cells.parquet",
    output:
        directory(RESULTS + "/{study}/figures"),
    log:
        RESULTS + "/logs/figures/{study}.log",
    params:
        options=lambda wildcards: PIPELINE.part(wildcards.study, "figures", *LABELS),
        code=lambda wildcards: PIPELINE.code("rflib.report.figures"),
    shell:
        "{STEP} figures --study {STUDIES:q}/{wildcards.study}.yaml --cells {input.cells:q} --published {PUBLISHED:q} --out {output:q}"
        " 2> {log:q}"


rule page:
    localrule: True
    input:
        [
            f"{RESULTS}/{study}/{part}"
            for study in ASKED
            for part in ("cells.parquet", "tables", "figures")
        ],
    output:
        RESULTS + "/report/index.html",
    log:
        RESULTS + "/logs/page.log",
    params:
        studies=ASKED,
        texts=lambda wildcards: PIPELINE.texts(ASKED),
        code=lambda wildcards: PIPELINE.code("rflib.report.page"),
        assets=lambda wildcards: PIPELINE.assets,
    shell:
        "{STEP} report --studies {STUDY_FILES:q} --results {RESULTS:q} --out {output:q} 2> {log:q}"
