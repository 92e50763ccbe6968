# One image for the command and for `serve`: docs/how-to/serve.md. The build stage runs on the machine that builds; what it makes is the same
# for all platforms. To pin the base images by digest: --build-arg NODE_IMAGE=…@sha256:… --build-arg BASE_IMAGE=…@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The package as releases have it, with the embedded database beside it; maps and the CommonJS build of the database are never loaded.
RUN npx rolldown --config --logLevel warn \
  && npm pack --ignore-scripts --silent \
  && npm install --global --ignore-scripts --no-audit --no-fund --prefix /package ./ostiary-*.tgz \
    "@electric-sql/pglite@$(node --print 'require("./package.json").peerDependencies["@electric-sql/pglite"]')" \
  && find /package/lib/node_modules/@electric-sql -name '*.map' -delete -o -name '*.cjs' -delete -o -name '*.d.*ts' -delete

# Node for the platform of the image.
FROM ${NODE_IMAGE} AS node

FROM ${BASE_IMAGE}
# git reads manifests at commits and runbooks; ssh reaches repositories, and needs a user with a name.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
  && useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin --user-group ostiary \
  && install --directory --owner ostiary --group ostiary --mode 0700 /data \
  && install --directory --owner ostiary --group ostiary /project
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=build /package /usr/local
# Numbers, so that Kubernetes can check that the user is not root.
USER 10001:10001
ENV NODE_ENV=production OSTIARY_SERVE_DATABASE=/data/gateway
WORKDIR /project
VOLUME /data
EXPOSE 8009
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:8009/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["ostiary"]
CMD ["--help"]
