# The course for a class: the single-user server that a JupyterHub starts for each learner.
#
#   docker build --tag rnnlab .
#   docker run --rm --publish 8888:8888 rnnlab sh -c "rnnlab start course && cd course && jupyter lab --ip 0.0.0.0"
#
# The last line is for a look without a hub. In a hub's configuration: c.DockerSpawner.image = "rnnlab", or the same name in KubeSpawner. /home/learner is what
# to keep in a volume: the course is laid out there at the first start, and an update leaves answers alone.
FROM python:3.13-slim-bookworm AS wheel
WORKDIR /course
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1 RNNLAB_CUDA=simulator
COPY constraints.txt /tmp/constraints.txt
COPY --from=wheel /wheels /tmp/wheels
RUN wheel="$(echo /tmp/wheels/rnnlab-*.whl)" \
    && python -m pip install --constraint /tmp/constraints.txt "${wheel}[lab]" jupyterhub==6.1.1 \
    && rm -r /tmp/wheels \
    && useradd --create-home --uid 1000 --shell /bin/bash learner
USER 1000
WORKDIR /home/learner
EXPOSE 8888
# the course of this image, laid out or brought up to date, then the server that the hub expects
CMD ["sh", "-c", "if [ -e course/.rnnlab.json ]; then (cd course && rnnlab update); else rnnlab start course; fi && exec jupyterhub-singleuser --ip 0.0.0.0 --port 8888 --notebook-dir=/home/learner/course"]
