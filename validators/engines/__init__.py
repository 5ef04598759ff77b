"""The container engines. Docker's API is spoken by both Docker and podman.

docker.py       the engine: images, containers, sweep     container.py  one running container
confinement.py  what a container may do (pure)            channel.py    how a report gets out
streams.py      hijacked connections, head and tail       disk.py       the disk watcher
ownership.py    whose container is it                     faults.py     machinery → one sentence
sockets.py      where engines listen                      commands.py   commands and their deadlines
client.py       how long calls may take, their end        creation.py    a container as asked for
inventory.py    what of ours lies on an engine: images, package caches
registry.py     images from a registry                    life.py      who ended a container
removal.py      what ends, beside the rest
labels.py       image labels, spelled for every engine
"""

from validators.engines.docker import DockerEngine
from validators.engines.sockets import connect

__all__ = ["DockerEngine", "connect"]
