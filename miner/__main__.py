"""`python -m miner` is the same as `miner`."""

from miner.cli import main

if __name__ == "__main__":
    main()
