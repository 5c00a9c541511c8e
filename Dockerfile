# Targets: serve (the default) and train. Build arguments choose what serves:
#   docker build .                                  CPU, under 450 MB
#   docker build --build-arg EXTRAS=openvino .      transformers three times as fast, 105 MB more
#   docker build --build-arg DEVICE=gpu .           CUDA runtime, onnxruntime-gpu and faiss-gpu
#   docker build --build-arg EXTRAS=milvus,otel .   further extras of pyproject.toml, comma-separated
#   docker build --target train -t interlingua:train .
ARG PYTHON_VERSION=3.11
ARG DEVICE=cpu
# CUDA 13 and cuDNN 9 for onnxruntime-gpu; faiss-gpu-cu12 brings its CUDA 12 libraries along.
ARG CUDA_IMAGE=nvidia/cuda:13.0.2-cudnn-runtime-ubuntu24.04

FROM python:${PYTHON_VERSION}-slim-bookworm AS build
ARG DEVICE
ARG EXTRAS=""
WORKDIR /build
RUN python -m venv /opt/interlingua
ENV PATH=/opt/interlingua/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY pyproject.toml ./
COPY constraints constraints
# Dependencies first, so that a change of our code does not install them again.
RUN python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
names = [n for n in '${DEVICE},${EXTRAS}'.split(',') if n]; \
print('\n'.join(sum((p['optional-dependencies'][n] for n in names), p['dependencies'])))" \
    > requirements.txt \
    && pip install -c constraints/${DEVICE}.txt -r requirements.txt
COPY README.md LICENSE NOTICE ./
COPY service service
COPY training training
COPY models models
RUN pip install --no-deps .

# What the server never imports: installers, tests of libraries, C headers, the downloader that
# `tokenizers` asks for but needs for hubs only (the image takes nothing from the network), and what
# OpenVINO brings for other devices and formats.
FROM build AS slim
ARG PYTHON_VERSION
WORKDIR /opt/interlingua/lib/python${PYTHON_VERSION}/site-packages
RUN pip uninstall -y hf-xet huggingface-hub fsspec setuptools pip \
    && rm -rf numpy/f2py numpy/_core/include onnxruntime/tools onnxruntime/transformers \
        onnxruntime/quantization pkg_resources openvino/include openvino/cmake openvino/torch \
    && find . -path './openvino/libs/*' -name 'libopenvino_*' ! -name '*_intel_cpu_*' \
        ! -name '*_onnx_*' ! -name '*_ir_*' -delete \
    && rm -f openvino/libs/cache.json \
    && find . -type d \( -name tests -o -name __pycache__ \) -prune -exec rm -rf {} + \
    && { python -m compileall -q . > /dev/null || echo "some of a library's files are templates"; }

FROM python:${PYTHON_VERSION}-slim-bookworm AS base-cpu

# hadolint ignore=DL3006
FROM ${CUDA_IMAGE} AS base-gpu
# What the Python that is copied in is linked with.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libbz2-1.0 \
        libffi8 liblzma5 libreadline8 libsqlite3-0 libssl3 libuuid1 zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin /usr/local/bin
COPY --from=build /usr/local/lib /usr/local/lib
RUN ldconfig

# hadolint ignore=DL3006
FROM base-${DEVICE} AS root
ARG PYTHON_VERSION
WORKDIR /usr/local/lib/python${PYTHON_VERSION}
# The C library and its certificates, Python, and our user; no installer, no manual, no shell tools
# beyond the base's. The package database stays: scanners read it.
RUN useradd --system --uid 10001 --no-create-home --home-dir /nonexistent interlingua \
    && mkdir -p /data && chown 10001:10001 /data \
    && rm -rf ensurepip idlelib lib2to3 pydoc_data test tkinter turtledemo config-* \
        site-packages/* lib-dynload/_test* ../libpython*.a \
    && { python3 -m compileall -q . > /dev/null || true; } \
    && rm -f /usr/local/bin/pip* /usr/local/bin/idle* /usr/local/bin/pydoc* /usr/local/bin/2to3* \
    && rm -rf /usr/share/doc /usr/share/man /usr/share/locale /usr/share/info /usr/share/perl* \
        /usr/lib/*-linux-gnu/perl* /usr/lib/*-linux-gnu/gconv /var/cache /var/log/* /root/.cache \
    && mkdir -p /var/cache
COPY --from=slim /opt/interlingua /opt/interlingua

FROM python:${PYTHON_VERSION}-slim-bookworm AS train
COPY --from=build /opt/interlingua /opt/interlingua
ENV PATH=/opt/interlingua/bin:$PATH PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1
COPY pyproject.toml constraints/ /build/constraints/
RUN python -c "import tomllib; p = tomllib.load(open('/build/constraints/pyproject.toml', 'rb'))['project']; \
print('\n'.join(p['optional-dependencies']['train']))" > /build/requirements.txt \
    && pip install -c /build/constraints/cpu.txt -r /build/requirements.txt \
    && useradd --uid 10001 --create-home interlingua \
    && mkdir -p /data /runs && chown 10001:10001 /data /runs
USER 10001:10001
WORKDIR /runs
VOLUME /runs
ENTRYPOINT ["interlingua"]
CMD ["train", "--help"]

# From scratch, so that what was removed above does not weigh in a layer below.
FROM scratch AS serve
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=unknown
LABEL org.opencontainers.image.title="interlingua" \
      org.opencontainers.image.description="Multilingual embedding server: vectors, cross-lingual search, classification" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.documentation="docs/deploy.md"
# hadolint ignore=DL3067
COPY --from=root / /
# The library path is where Kubernetes' device plugins mount a driver; elsewhere it is not there.
ENV PATH=/opt/interlingua/bin:/usr/local/bin:/usr/bin:/bin \
    LANG=C.UTF-8 \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64 \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    INTERLINGUA_HOST=0.0.0.0 \
    INTERLINGUA_PORT=8000 \
    INTERLINGUA_DATA=/data \
    INTERLINGUA_LOG_FORMAT=json
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# No urllib: it would ask the proxy that many a Docker client names in every container.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD \
    ["python", "-c", "import http.client as h, os, sys; c = h.HTTPConnection('127.0.0.1', os.environ['INTERLINGUA_PORT'], timeout=2); c.request('GET', '/health/ready'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["interlingua"]
CMD ["serve"]
