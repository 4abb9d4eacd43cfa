/** `npm start`: the pages, their backend, and the service of this repository if INTERLUDE_URL names no other. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import type { HttpProxy, Plugin } from 'vite';

const { INTERLUDE_URL, PORT = '3000' } = process.env;
const service = INTERLUDE_URL ?? `http://127.0.0.1:${PORT}`;
const cwd = fileURLToPath(new URL('../..', import.meta.url));
const program = path.join(cwd, 'src/cli/interlude.mjs');

function startService(): Plugin {
  return {
    name: 'interlude',
    configureServer({ httpServer }) {
      if (INTERLUDE_URL !== undefined) return;
      const child = spawn(process.execPath, [program, 'start'], { cwd, stdio: 'inherit' });
      child.once('exit', (code) => process.exit(code ?? 1));
      httpServer?.once('close', () => child.kill());
      process.once('exit', () => child.kill());
    },
  };
}

/** What your own server does. */
function backend(): Plugin {
  return {
    name: 'backend',
    configureServer(server) {
      server.middlewares.use('/token', (request, response) => {
        const sent = server
          .ssrLoadModule('/backend/tokens.ts')
          .then(({ sendToken }) => sendToken(program, request, response));
        sent.catch((error: Error) => response.writeHead(500).end(error.message));
      });
      server.middlewares.use((request, response, next) => {
        if (!request.url?.startsWith('/api/copilotkit')) return next();
        const answered = server
          .ssrLoadModule('/backend/copilotkit-runtime.ts')
          .then(({ runtimeFor }) => runtimeFor(service)(request, response));
        answered.catch((error: Error) => response.writeHead(500).end(error.message));
      });
    },
  };
}

/** A stream of the service that breaks off breaks off for the page, too: else it would wait for the rest. */
function passOnBreaks(proxy: HttpProxy.ProxyServer): void {
  proxy.on('proxyRes', (incoming, _request, response) => {
    incoming.once('close', () => incoming.complete || response.destroy());
  });
}

export default defineConfig({
  plugins: [startService(), backend()],
  server: { proxy: { '/run': { target: service, configure: passOnBreaks } } },
});
