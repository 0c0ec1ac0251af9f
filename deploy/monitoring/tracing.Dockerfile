# syntax=docker/dockerfile:1
#
# The image of the server with the packages that tracing needs: see docs/tracing.md.
#
#   docker build -t stepwright:0.1.0 .
#   docker build -t stepwright-tracing:0.1.0 -f deploy/monitoring/tracing.Dockerfile deploy/monitoring

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /packages
RUN npm install --no-audit --no-fund @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace@3.1.1 \
  @opentelemetry/resources@3.1.1 @opentelemetry/exporter-trace-otlp-http@0.301.0

FROM stepwright:0.1.0
# Node looks for packages in the folders above /app, too.
COPY --from=packages --chown=0:0 /packages/node_modules /node_modules
