# Tables, figures and the page: redrawn from the cells, never recomputing one.

# Parts of a study file that decide what its tables and figures show, and in which order.
LABELS = ("datasets", "kernels", "methods", "learners")


rule tables:
    localrule: True
    input:
        lambda wildcards: PIPELINE.published(wildcards.study, "tables", "claims"),
        cells=f"{RESULTS}/{{study}}/cells.parquet",
        study=lambda wildcards: ancient(PIPELINE.study_files[wildcards.study]),
    output:
        directory(f"{RESULTS}/{{study}}/tables"),
    log:
        f"{RESULTS}/logs/tables/{{study}}.log",
    params:
        options=lambda wildcards: PIPELINE.part(wildcards.study, "tables", "claims", *LABELS),
        code=lambda wildcards: PIPELINE.code("rflib.report.tables"),
    shell:
        "{STEP} tables --study {input.study:q} --cells {input.cells:q} --published {PIPELINE.published_folder:q} --out {output:q}"
        " 2> {log:q}"


rule figures:
    localrule: True
    input:
        lambda wildcards: PIPELINE.published(wildcards.study, "figures"),
        cells=f"{RESULTS}/{{study}}/cells.parquet",
        study=lambda wildcards: ancient(PIPELINE.study_files[wildcards.study]),
    output:
        directory(f"{RESULTS}/{{study}}/figures"),
    log:
        f"{RESULTS}/logs/figures/{{study}}.log",
    params:
        options=lambda wildcards: PIPELINE.part(wildcards.study, "figures", *LABELS),
        code=lambda wildcards: PIPELINE.code("rflib.report.figures"),
    shell:
        "{STEP} figures --study {input.study:q} --cells {input.cells:q} --published {PIPELINE.published_folder:q} --out {output:q}"
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
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/page.log",
    params:
        studies=ASKED,
        texts=lambda wildcards: PIPELINE.texts(ASKED),
        code=lambda wildcards: PIPELINE.code("rflib.report.page"),
        assets=lambda wildcards: PIPELINE.assets,
    shell:
        "{STEP} report --studies {STUDY_FILES:q} --results {RESULTS:q} --out {output:q} 2> {log:q}"
