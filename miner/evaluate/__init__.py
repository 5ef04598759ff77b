"""Predictions and a dataset → graded evaluations → % resolved.

A missing prediction is unresolved, never skipped, never gold. A broken machine is its own state and
never the model's failure. Grades are kept by (instance row, patch, grader version), so the same
answer is never run twice.

    dataset.py      an instance as evaluation needs it
    predictions.py  strangers' files, checked at the door
    stage.py        what of it must be run
    hands.py        runs it: through the executor, and once more when a machine fails
    books.py        keeps what came of it
    report.py       pure: evaluations → rates with intervals
"""
