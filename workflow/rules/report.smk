# Tables, figures and the page: redrawn from the cells, never recomputing one.

# Parts of a study file that decide what its tables and figures show, and in which order.
LABELS = ("datasets", "kernels", "methods", "learners")


rule tables:
    input:
        lambda wildcards: PIPELINE.published(wildcards.study, "tables", "claims"),
        cells=f"{RESULTS}/{{study}}/cells.parquet",
        study=lambda wildcards: ancient(PIPELINE.study_files[wildcards.study]),
    output:
        report(
            directory(f"{RESULTS}/{{study}}/tables"),
            patterns=["{name}.csv"],
            category="{study}",
            subcategory="Tables",
        ),
    log:
        f"{RESULTS}/logs/tables/{{study}}.log",
    localrule: True
    conda:
        "../envs/rflib.yaml"
    params:
        options=lambda wildcards: PIPELINE.part(wildcards.study, "tables", "claims", *LABELS),
        code=lambda wildcards: PIPELINE.code("rflib.report.tables", *modules_of_kinds()),
        published=lambda wildcards, output: PIPELINE.published_folder,
    shell:
        "python -m rflib tables --study {input.study:q} --cells {input.cells:q}"
        " --published {params.published:q} --out {output:q} 2> {log:q}"


rule figures:
    input:
        lambda wildcards: PIPELINE.published(wildcards.study, "figures"),
        cells=f"{RESULTS}/{{study}}/cells.parquet",
        study=lambda wildcards: ancient(PIPELINE.study_files[wildcards.study]),
    output:
        report(
            directory(f"{RESULTS}/{{study}}/figures"),
            patterns=["{name}.svg"],
            category="{study}",
            subcategory="Figures",
        ),
    log:
        f"{RESULTS}/logs/figures/{{study}}.log",
    localrule: True
    conda:
        "../envs/rflib.yaml"
    params:
        options=lambda wildcards: PIPELINE.part(wildcards.study, "figures", *LABELS),
        code=lambda wildcards: PIPELINE.code("rflib.report.figures", *modules_of_kinds()),
        published=lambda wildcards, output: PIPELINE.published_folder,
    shell:
        "python -m rflib figures --study {input.study:q} --cells {input.cells:q}"
        " --published {params.published:q} --out {output:q} 2> {log:q}"


rule page:
    input:
        [f"{RESULTS}/{study}/{part}" for study in ASKED for part in ("cells.parquet", "tables", "figures")],
    output:
        page=report(f"{RESULTS}/report/index.html", category="Report"),
        findings=f"{RESULTS}/report/findings.txt",
    log:
        f"{RESULTS}/logs/page.log",
    localrule: True
    conda:
        "../envs/rflib.yaml"
    params:
        asked=ASKED,
        texts=lambda wildcards: PIPELINE.texts(ASKED),
        code=lambda wildcards: PIPELINE.code("rflib.report.page"),
        assets=lambda wildcards: PIPELINE.assets,
        studies=lambda wildcards, output: STUDY_FILES,
        results=subpath(output[0], ancestor=2),
    shell:
        "python -m rflib report --studies {params.studies:q} --results {params.results:q} --out {output.page:q} 2> {log:q}"
