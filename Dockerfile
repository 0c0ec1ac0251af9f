# syntax=docker/dockerfile:1
#
# The server as an image: only what runs, as an ordinary user, on a root that may be read-only.
#
#   docker build -t stepwright .
#   docker run --read-only --tmpfs /tmp -v stepwright:/data -p 5001:5001 stepwright
#
# RUNTIME_IMAGE needs glibc and libstdc++ and nothing else: node itself comes with the build.

ARG BUILD_IMAGE=node:24-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12

FROM ${BUILD_IMAGE} AS build
WORKDIR /source
COPY . .
# The build ends with the memory snapshot of Python, so that no container has to make its own.
RUN npx -y pnpm@12 install --frozen-lockfile \
  && npx -y pnpm@12 run build \
  && npx -y pnpm@12 --filter @stepwright/server deploy --prod --legacy /app \
  && rm -rf /app/src /app/test /app/scripts \
  && find /app/ui -mindepth 1 -maxdepth 1 ! -name dist -exec rm -rf {} + \
  && cp "$(readlink -f node_modules/node/bin/node)" /app/node \
  && mkdir /data

FROM ${RUNTIME_IMAGE}
COPY --from=build --chown=0:0 /app /app
# The embedded store; owned by the user, so that a fresh volume is too.
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=5001 DATA_DIR=/data
EXPOSE 5001
VOLUME /data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["/app/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/node", "/app/dist/main.js"]
