# An image in which everything here runs, made by scripts/setup.sh; without arguments it runs the quickstart.
#
#   docker build -t fairseq-plugins . && docker run --rm fairseq-plugins
#   docker build --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cu130 -t fairseq-plugins:cuda .
#   docker run --rm --gpus all fairseq-plugins:cuda
#
# TORCH_INDEX  index that torch is taken from: the default is for CPUs, cu130 for NVIDIA's GPUs
FROM python:3.12-slim AS base
RUN useradd --create-home user && install -d -o user -g user /home/user/fairseq-plugins
WORKDIR /home/user/fairseq-plugins

# g++ builds fairseq where it has no wheel, on processors other than x86-64
FROM base AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
USER user
COPY --chown=user . .
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PIP_NO_CACHE_DIR=1
RUN TORCH_INDEX="$TORCH_INDEX" bash scripts/setup.sh

FROM base
USER user
COPY --from=build --chown=user /home/user/fairseq-plugins .
ENV PATH="/home/user/fairseq-plugins/.venv/bin:$PATH"
CMD ["bash", "scripts/quickstart.sh"]
