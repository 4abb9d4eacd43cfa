/**
 * ACP over HTTP and WebSocket, as the SDK has it: an experiment of the protocol. Nobody is trusted for reaching this port:
 * every request brings the API token of its own user, and a connection belongs to the token that began it.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import type { AgentConnector } from '@agentclientprotocol/sdk';
import { WebSocketServer } from 'ws';

interface Parts {
  /** The service's address, without a slash at the end. */
  service: string;
  createAgent: (token: string) => AgentConnector;
}

/** Of one token. */
interface Entrance {
  server: AcpServer;
  request: (request: IncomingMessage, response: ServerResponse) => void;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Tokens are replaced every few minutes; the connections of those that are long gone are closed. */
const mostTokens = 64;
/** With room for the images of a prompt. */
const maxBodyBytes = 16 * 1024 * 1024;

export function createHttpServer(parts: Parts): Server {
  const entrances = new Entrances(parts);
  const server = createServer((request, response) => {
    void entrances.find(request).then((entrance) => {
      if (entrance) return entrance.request(request, response);
      response.writeHead(401, { 'www-authenticate': 'Bearer', 'content-type': 'text/plain' });
      response.end('Send an API token of the service: Authorization: Bearer …\n');
    });
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined);
    void entrances.find(request).then((entrance) => {
      if (entrance) return entrance.upgrade(request, socket, head);
      socket.end('HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nConnection: close\r\n\r\n');
    });
  });
  server.on('close', () => void entrances.close());
  return server;
}

class Entrances {
  readonly #parts: Parts;
  readonly #byToken = new Map<string, Promise<Entrance | null>>();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: maxBodyBytes });

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null: it brings no token that the service takes. */
  async find({ headers }: IncomingMessage): Promise<Entrance | null> {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    // Pages of the web have no business here, whatever they know.
    if (token === undefined || headers.origin !== undefined) return null;
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#byToken.get(key) ?? this.#enter(token);
    this.#byToken.set(key, known);
    const entrance = await known.catch(() => null);
    if (!entrance) this.#byToken.delete(key);
    this.#closeOldest();
    return entrance;
  }

  async close(): Promise<void> {
    this.#sockets.close();
    for (const entrance of this.#byToken.values()) await (await entrance)?.server.close();
  }

  async #enter(token: string): Promise<Entrance | null> {
    const { service, createAgent } = this.#parts;
    const { ok, body } = await fetch(`${service}/run/v1/conversations?limit=1`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(10_000),
    });
    await body?.cancel();
    if (!ok) return null;
    const server = new AcpServer({ createAgent: () => createAgent(token) });
    return {
      server,
      request: createNodeHttpHandler(server, { maxRequestBodyBytes: maxBodyBytes }),
      upgrade: createNodeWebSocketUpgradeHandler(server, this.#sockets),
    };
  }

  #closeOldest(): void {
    const [oldest] = this.#byToken;
    if (oldest === undefined || this.#byToken.size <= mostTokens) return;
    const [key, entrance] = oldest;
    this.#byToken.delete(key);
    void entrance.then((found) => found?.server.close()).catch(() => undefined);
  }
}
