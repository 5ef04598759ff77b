"""What do the tests say? Given a tree, a recipe and patches — no GitHub, no SQL, no web.

    model.py        the values: Recipe, Run, Verdict, Grade …        errors.py  machinery only
    engine.py       Protocols ContainerEngine and Container          engines/   Docker, podman
    base_images.py  python:X.Y-slim where a registry answers, else made here
    environment.py  recipe → environment image                       dockerfile.py  the same as text
    languages/      one folder or file a language
    reporter.py     the one-file plug-in that reports from inside the tests
    patching.py     patches onto a tree                              run.py     one Run
    verification.py repeated runs → Verdict                          grading.py pure rules
    evaluation.py   model patch → Grade                              infra.py   broken-machine marks
    examination.py  recipes tried in order → Examination
    workshop.py     picklable settings that do all this on any machine

Layout of an environment image (made by environment.py, used by run.py):
    /opt/venv                   the virtual environment, owned by root, bytecode compiled
    /opt/miner/generated.tar    what the install left in the tree beside its files (egg-info,
                                generated versions, built extensions); every run unpacks it
    /testbed                    empty: every run brings its own tree there
"""
