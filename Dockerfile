# The default run, without a network:
#   docker build --tag skem .
#   docker run --network none --volume "$PWD/results:/skem/results" skem
ARG BASE=python:3.12-slim
FROM ${BASE}

WORKDIR /skem
COPY . .

# Compiled loops are kept beside the engine's modules; on another kind of processor the first fit compiles them again.
# Any user may run the workflow (docker run --user). The build fails at data that no source has: a run could not fetch them.
ENV SKEM_DATA_HOME=/opt/skem-data
# A user without a home folder has no cache folder, either.
ENV XDG_CACHE_HOME=/opt/cache
RUN pip install --no-cache-dir --editable ".[pipeline]" \
    && python -m skem.warm_up \
    && snakemake fetch --cores 1 \
    && ! grep --files-with-matches '"available": false' results/data/*.json \
    && mkdir -p /opt/cache \
    && chmod -R a+rwX /skem /opt/skem-data /opt/cache

ENV SKEM_OFFLINE=1
CMD ["snakemake", "--cores", "all"]
