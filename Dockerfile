# The kit's own programs: exporter, receiver of notifications, set-up of Prometheus' targets.
FROM python:3.13.7-slim-trixie AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY alerts alerts
COPY dashboards dashboards
COPY exporter exporter
COPY monitoring monitoring
RUN python -m venv /opt/vllm-monitoring-kit \
    && /opt/vllm-monitoring-kit/bin/pip install --no-cache-dir --no-compile .

FROM python:3.13.7-slim-trixie
LABEL org.opencontainers.image.title="vllm-monitoring-kit" \
      org.opencontainers.image.licenses="Apache-2.0"
# Volumes take over the owner of the folder that they are mounted on.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin kit \
    && install -d -o 10001 -g 10001 \
        /var/lib/vllm-monitoring-kit/model \
        /var/lib/vllm-monitoring-kit/notifications \
        /var/lib/vllm-monitoring-kit/targets
COPY --from=build /opt/vllm-monitoring-kit /opt/vllm-monitoring-kit
ENV PATH=/opt/vllm-monitoring-kit/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
WORKDIR /var/lib/vllm-monitoring-kit
USER 10001:10001
EXPOSE 18000
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:18000/-/healthy', timeout=4)"]
ENTRYPOINT ["python", "-m"]
CMD ["exporter"]
