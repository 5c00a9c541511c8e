# Two stages: the first builds the environment, the second holds only what runs.
ARG PYTHON_VERSION=3.11

FROM python:${PYTHON_VERSION}-slim-bookworm AS build
# cpu or gpu: which pair of onnxruntime and faiss is installed.
ARG EXTRA=cpu
WORKDIR /build
RUN python -m venv /opt/interlingua
ENV PATH=/opt/interlingua/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY constraints constraints
# Dependencies first, so that a change of our code does not install them again.
RUN python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
print('\n'.join(p['dependencies'] + p['optional-dependencies']['${EXTRA}']))" > requirements.txt \
    && pip install -c constraints/${EXTRA}.txt -r requirements.txt
COPY service service
COPY training training
COPY models models
RUN pip install --no-deps . && pip uninstall -y pip

FROM python:${PYTHON_VERSION}-slim-bookworm AS serve
LABEL org.opencontainers.image.title="interlingua" \
      org.opencontainers.image.description="Multilingual embedding server" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --no-create-home interlingua \
    && mkdir /data && chown 10001:10001 /data
COPY --from=build /opt/interlingua /opt/interlingua
ENV PATH=/opt/interlingua/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    INTERLINGUA_HOST=0.0.0.0 \
    INTERLINGUA_PORT=8000 \
    INTERLINGUA_DATA=/data
USER 10001:10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/ready', timeout=2)"]
ENTRYPOINT ["interlingua"]
CMD ["serve"]
