# One image for both processes: `interlude server` and `interlude worker`, and for operators' commands. A glibc base, because Temporal's core has no musl build.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
COPY scripts/trim-modules.mjs scripts/
RUN npm ci --omit=dev --ignore-scripts && node scripts/trim-modules.mjs

# What pages load and what workers run is bundled here, so that the processes below bundle nothing.
FROM node:24-slim AS bundles
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --ignore-scripts
COPY LICENSE ./
COPY src src
COPY scripts/build-browser.ts scripts/build-workflows.ts scripts/
RUN node scripts/build-browser.ts
RUN node scripts/build-workflows.ts

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
# What is in the image, besides the base image.
COPY --from=dependencies /app/sbom.cdx.json ./
# The lockfile is part of what the workflow bundle is checked against. Links in node_modules lead to the packages.
COPY package.json package-lock.json LICENSE ./
COPY packages packages
COPY src src
COPY --from=bundles /app/build build
RUN ln -s /app/src/cli/interlude.mjs /usr/local/bin/interlude
USER node
ENV INTERNAL_PORT=3100
# The root may be read-only, apart from /tmp.
ENV INTERLUDE_DATA=/tmp/interlude
EXPOSE 3000
# Whether the process runs, not whether it is ready: without its database it waits, and a restart does not help.
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.INTERNAL_PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1))"]
CMD ["interlude", "server"]
