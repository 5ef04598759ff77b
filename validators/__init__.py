"""What do the tests say? Given a tree, a recipe and patches — no GitHub, no SQL, no web.

The words      model/  the values: Recipe, Run, Verdict, Grade …          errors.py  machinery only
               engine.py  Protocols ContainerEngine and Container  languages/  one a language
Engines        engines/  Docker, podman                  base_images.py  python:X.Y-slim, or made
               debian.py, interpreters.py  what it is made of    images.py  what may go again
Environments   environment.py  recipe → environment image        install.py  the install run
               install_steps.py  its steps, and whose fault it is when one fails
               installation.py, dockerfile.py  its commands (pure)
               locks.py  the text of a lock (pure)
               repository.py  a tree as git's only commit (pure)
               archive.py  files for a container (pure)
               certificates.py  what the machine trusts
               infra.py  marks of a broken machine       tree.py, patched_text.py  reading a tree
One run        run.py  a fresh container, patches on, tests under limits → Run
               reporter.py  the one-file plug-in that reports from inside the tests
               transcript.py  what it sent                invocation.py  how the tests are called
               testimony.py  what that says of the run (pure)
               unified.py  what a diff says (pure)
               patching.py, worktree.py  patches onto a tree     selection.py  which test files
               trial.py  what is asked of one run         bytecode.py  compiled once for all runs
               recognition.py  is what a recipe names known?
               plural.py  a number with its noun (pure)  processes.py  is it still the one it was?
Verdicts       examination.py  recipes tried in order → Examination
               verification.py  repeated runs → Verdict   grading.py  its rules (pure)
               flakiness.py  how much repeats differ (pure)
               procession.py  runs in a row               probes.py, hunks.py  asked once more
Grades         evaluation.py  model patch → Grade         restoration.py  what is put back (pure)
               preparation.py, surroundings.py  what is known of the trees (pure)
               shadowing.py  what hides other modules (pure)
               naming.py, configured.py  what options, variables and settings name (pure)
               support.py  what tests rest on that is no test (pure)
               required.py  where the required tests are (pure)
               sections.py  parts of shared configuration (pure)
               grade_scripts.py, putting_back.py  and how  planted.py  what a build may not leave
               model_run.py  the run of a model's tree
               guarded.py  what must not change           suspicion.py  what is flagged (pure)
Anywhere       workshop.py  picklable settings that do all this on any machine

Layout of an environment image (made by environment.py, used by run.py):
    /opt/venv                   the virtual environment, owned by root, bytecode compiled
    /opt/miner/generated.tar    what the install left in the tree beside its files (egg-info,
                                generated versions, built extensions); every run unpacks it
    /testbed                    empty: every run brings its own tree there
"""
