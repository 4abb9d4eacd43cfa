/** A reverse proxy for a server that accepts any Host header: passes on only requests to names of this machine (against DNS rebinding). */
import { createServer, request as send } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { isKnownHost } from '../network/host-names.ts';

interface Place {
  host: string;
  port: number;
}

export async function startHostCheckingProxy(at: Place, to: Place): Promise<{ stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (isKnownHost(request.headers.host)) return pass(request, response, to);
    response.writeHead(421, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('Open it as localhost or 127.0.0.1.\n');
  });
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pass(request: IncomingMessage, response: ServerResponse, to: Place): void {
  const { method, url: path, headers } = request;
  const passed = send({ ...to, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  passed.once('error', () => {
    if (response.headersSent) return response.destroy();
    response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('It does not answer; it may be starting.\n');
  });
  response.once('close', () => passed.destroy());
  request.pipe(passed);
}
