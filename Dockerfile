# The miner itself (not its guests): `docker build -t swe-evergreen .`
# It needs the container engine's socket when it verifies; see docker-compose.yml.
ARG BASE=python:3.12-slim
FROM ${BASE}

RUN apt-get update \
    && apt-get install -y --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY requirements.lock ./
RUN python3 -m venv /opt/app \
    && /opt/app/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY migrations ./migrations
COPY validators ./validators
COPY miner ./miner
RUN /opt/app/bin/pip install --no-cache-dir --no-deps --editable .

RUN useradd --system --create-home --uid 10001 miner \
    && install -d -o miner -g miner /data
USER miner
ENV MINER_DATA_DIR=/data PATH=/opt/app/bin:/usr/local/bin:/usr/bin:/bin
VOLUME /data
ENTRYPOINT ["miner"]
CMD ["--help"]
