/** An HTTP server for a double: on loopback, and the body of a request is read before the request is handled. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../../demo/listen.ts';

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  body: string;
  bytes: Buffer;
}

export interface Served {
  server: Server;
  port: number;
  origin: string;
  /** How many connections are open. */
  connections(): Promise<number>;
  stop(): Promise<void>;
}

/** A handler that fails ends its connection. Takes a free port unless one is given. */
export async function serve(handle: (exchange: Exchange) => unknown, wanted = 0): Promise<Served> {
  const server = createServer((request, response) => {
    const handled = async () => {
      const bytes = await buffer(request);
      const url = new URL(request.url ?? '/', origin);
      await handle({ request, response, url, body: bytes.toString(), bytes });
    };
    handled().catch(() => response.destroy());
  });
  // Longer than clients keep a connection: on a busy machine the two ends would meet.
  server.keepAliveTimeout = 60_000;
  const { port, stop } = await listen(server, wanted, 'none');
  const origin = `http://127.0.0.1:${port}`;
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  return { server, port, origin, connections, stop };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
