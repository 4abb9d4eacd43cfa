/** The program as an ACP agent, on stdio and over HTTP. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import type { Duplex } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import type { AgentConnectionLifecycle, AgentConnector } from '@agentclientprotocol/sdk';
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { agentProtocolRouter } from '@agentclientprotocol/sdk/experimental/v2';
import { WebSocketServer } from 'ws';
import { createAgentV1 } from './agent-v1.ts';
import { createAgentV2 } from './agent-v2.ts';
import type { ConnectionParts } from './connection.ts';

/** For one connection. A draft may change at any time, so it also has to be enabled here. */
export function createAgent(parts: ConnectionParts, { draft }: { draft: boolean }): AgentConnector {
  const stable = createAgentV1(parts);
  return draft ? agentProtocolRouter().withV1(stable).withV2(createAgentV2(parts)) : stable;
}

// stdio: the editor starts this program and ends it by closing its input. Only the protocol goes to stdout.

/** Resolves when the editor has gone. */
export async function serveStdio(agent: AgentConnector): Promise<void> {
  const output = takeStdout();
  // An editor that is killed closes both streams at once.
  process.stdout.on('error', () => process.stdin.destroy());
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connected = agent.connect(ndJsonStream(Writable.toWeb(output), input));
  await (connected as AgentConnectionLifecycle).closed;
}

/** The real stdout; other writes go to stderr from now on. */
function takeStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return new Writable({
    write: (bytes: Buffer, _, done) => void write(bytes, () => done()),
  });
}

// HTTP and WebSocket, an experiment of the protocol. Access to the port proves nothing: every request carries the API token of its
// own user, and a connection belongs to the token that opened it.

interface Parts {
  /** Its address, without a trailing slash. */
  service: string;
  createAgent: (token: string) => AgentConnector;
}

/** Of one token. */
interface Entrance {
  server: AcpServer;
  request: (request: IncomingMessage, response: ServerResponse) => void;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/**
 * Accepted ones. Tokens are replaced every few minutes; above this, the connections of the least recently used one are
 * closed.
 */
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
  /** By digest, least recently used first. */
  readonly #accepted = new Map<string, Entrance>();
  /** Checks under way, one for each token. A refused token leaves no trace. */
  readonly #asked = new Map<string, Promise<Entrance | null>>();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: maxBodyBytes });
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Null: the service does not accept its token. */
  async find({ headers }: IncomingMessage): Promise<Entrance | null> {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    // A web page may not connect, even with a valid token.
    if (token === undefined || headers.origin !== undefined) return null;
    const key = createHash('sha256').update(token).digest('base64');
    const entrance = this.#accepted.get(key) ?? (await this.#ask(key, token).catch(() => null));
    if (entrance) this.#used(key, entrance);
    return entrance;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sockets.close();
    await Promise.all([...this.#accepted.values()].map(({ server }) => server.close()));
  }

  #ask(key: string, token: string): Promise<Entrance | null> {
    const asked = this.#asked.get(key) ?? this.#enter(token).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  async #enter(token: string): Promise<Entrance | null> {
    const { service, createAgent } = this.#parts;
    const { ok, body } = await fetch(`${service}/run/v1/conversations?limit=1`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(10_000),
    });
    await body?.cancel();
    if (!ok || this.#isClosed) return null;
    const server = new AcpServer({ createAgent: () => createAgent(token) });
    return {
      server,
      request: createNodeHttpHandler(server, { maxRequestBodyBytes: maxBodyBytes }),
      upgrade: createNodeWebSocketUpgradeHandler(server, this.#sockets),
    };
  }

  #used(key: string, entrance: Entrance): void {
    this.#accepted.delete(key);
    this.#accepted.set(key, entrance);
    const [oldest] = this.#accepted;
    if (oldest === undefined || this.#accepted.size <= mostTokens) return;
    const [oldestKey, { server }] = oldest;
    this.#accepted.delete(oldestKey);
    void server.close().catch(() => undefined);
  }
}
