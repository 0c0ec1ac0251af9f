# syntax=docker/dockerfile:1
#
# The image of the server: only what is needed at run time, with an ordinary user, on a root that may be read-only.
#
#   docker build -t stepwright:0.1.0 .
#   docker run --read-only --tmpfs /tmp -v stepwright:/data -p 127.0.0.1:5001:5001 stepwright:0.1.0
#
# The port is published on the loopback address: without `auth`, anyone who can reach the port can run workflows.
#
# RUNTIME_IMAGE only needs glibc and libstdc++: node itself is copied from the build.

ARG BUILD_IMAGE=node:24.21.0-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12

FROM ${BUILD_IMAGE} AS build
WORKDIR /source
COPY . .
RUN npx -y pnpm@12 install --frozen-lockfile
# What npm would publish, with the memory snapshot of Python, so that containers need not create their own; and the dependencies
# of the lockfile.
RUN npx -y pnpm@12 run pack:all /packages \
  && npx -y pnpm@12 --filter stepwright deploy --prod --legacy /deployed \
  && mkdir /app /data \
  && tar -xzf /packages/stepwright-[0-9]*.tgz -C /app --strip-components=1 \
  && mv /deployed/node_modules /app/ \
  && cp "$(readlink -f node_modules/node/bin/node)" /app/node
# A static binary that only fetches a URL: starting Node would cost 40 MB and 50 ms of CPU for every health check.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends busybox-static && cp /bin/busybox /wget

FROM ${RUNTIME_IMAGE}
COPY --from=build --chown=0:0 /app /app
COPY --from=build --chown=0:0 /wget /usr/bin/wget
# The folder of the embedded store; a new volume inherits its owner.
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=5001 DATA_DIR=/data
EXPOSE 5001
VOLUME /data
STOPSIGNAL SIGTERM
# The port inside the container. If you change PORT, override the health check too.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["/usr/bin/wget", "-q", "-O", "/dev/null", "http://127.0.0.1:5001/health/ready"]
# Other commands take the place of `start`, such as `migrate-store`.
ENTRYPOINT ["/app/node", "/app/bin/stepwright.js"]
CMD ["start"]
