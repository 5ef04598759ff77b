"""From a repository to a dated snapshot.

Six stages, one way: crawl → split → verify → assess → publish → evaluate. Each reads what the one
before left in the database and appends rows of its own; none calls another.

    cli/        the commands; wires settings → store → stage
    crawl/      what was merged?
    split/      one pull → gold patch + test patch, problem statement, gates
    verify/     leases a candidate and asks `validators` what its tests say
    assess/     how good a task is it?
    publish/    dated, immutable snapshots and their exports
    evaluate/   predictions → grades → % resolved
    store/      all the SQL
    demo/       an offline forge that serves real releases in GitHub's shape
    git/        the git command          http/       HTTP: tokens, budgets, retries
    model/      the rows that flow

config.py settings · schedule.py passes by night · executors.py where work runs · pending.py what is
not back from there · patience.py when to give up · holder.py who holds a lease · rategate.py when
to ask an API again · wire.py requests, responses, tokens · progress.py how a stage tells where it
is · jsontext.py JSON that somebody gave · given.py files that people name · errors.py by what the
caller must do
"""

__version__ = "0.1.0"
