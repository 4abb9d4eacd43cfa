/** The program as an ACP agent, on stdio and over HTTP. */
import { createHash } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
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
import { decodeJwt } from 'jose';
import { WebSocketServer } from 'ws';
import { createAgentV1 } from './agent-v1.ts';
import { createAgentV2 } from './agent-v2.ts';
import type { Connection, ConnectionParts } from './connection.ts';

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
  createAgent: (token: string, connections: Set<Connection>) => AgentConnector;
}

/** Of one token that the service accepts. */
interface Entrance {
  /** Whose token it is. */
  user: string;
  connections: Set<Connection>;
  server: AcpServer;
  request: (request: IncomingMessage, response: ServerResponse) => void;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** `full`: no entrance can be closed for it. */
type Found = Entrance | 'refused' | 'full';

/** Tokens are replaced every few minutes, so old entrances are closed for new ones, except those at work. */
const most = { ofAllUsers: 64, ofOneUser: 8 };
/** With room for the images of a prompt. */
const maxBodyBytes = 16 * 1024 * 1024;

export function createHttpServer(parts: Parts): Server {
  const entrances = new Entrances(parts);
  const server = createServer((request, response) => {
    void entrances.find(request).then((found) => {
      if (typeof found === 'object') return found.request(request, response);
      const { status, header, words } = refusals[found];
      response.writeHead(status, { ...header, 'content-type': 'text/plain' });
      response.end(`${words}\n`);
    });
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined);
    void entrances.find(request).then((found) => {
      if (typeof found === 'object') return found.upgrade(request, socket, head);
      const { status, header } = refusals[found];
      const lines = Object.entries(header).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}connection: close\r\n\r\n`);
    });
  });
  server.on('close', () => void entrances.close());
  return server;
}

const refusals = {
  refused: {
    status: 401,
    header: { 'www-authenticate': 'Bearer' },
    words: 'Send an API token of the service: Authorization: Bearer …',
  },
  full: {
    status: 503,
    header: { 'retry-after': '30' },
    words: 'Turns are under way with all tokens that can be used at once. Wait for one to end, or cancel it.',
  },
} as const;

class Entrances {
  readonly #parts: Parts;
  /** By digest of the token, least recently used first. */
  readonly #open = new Map<string, Entrance>();
  /** Checks under way, one for each token. A refused token leaves no trace. */
  readonly #asked = new Map<string, Promise<Found>>();
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: maxBodyBytes });
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async find({ headers }: IncomingMessage): Promise<Found> {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    // A web page may not connect, even with a valid token.
    if (token === undefined || headers.origin !== undefined) return 'refused';
    const key = createHash('sha256').update(token).digest('base64');
    const entrance = this.#open.get(key);
    if (!entrance) return this.#ask(key, token);
    this.#open.delete(key);
    this.#open.set(key, entrance);
    return entrance;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sockets.close();
    await Promise.all([...this.#open.values()].map(({ server }) => server.close()));
  }

  #ask(key: string, token: string): Promise<Found> {
    const asked =
      this.#asked.get(key) ??
      this.#enter(key, token)
        .catch(() => 'refused' as const)
        .finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  async #enter(key: string, token: string): Promise<Found> {
    const { service, createAgent } = this.#parts;
    const { ok, body } = await fetch(`${service}/run/v1/conversations?limit=1`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(10_000),
    });
    await body?.cancel();
    if (!ok || this.#isClosed) return 'refused';
    const user = userOf(token);
    if (!this.#makeRoom(user)) return 'full';
    const connections = new Set<Connection>();
    const server = new AcpServer({ createAgent: () => createAgent(token, connections) });
    const entrance = {
      user,
      connections,
      server,
      request: createNodeHttpHandler(server, { maxRequestBodyBytes: maxBodyBytes }),
      upgrade: createNodeWebSocketUpgradeHandler(server, this.#sockets),
    };
    this.#open.set(key, entrance);
    return entrance;
  }

  /**
   * Closes an idle entrance if there are too many: one of this user, or of a user who has more. First those without a
   * connection, then those of the user who has most.
   */
  #makeRoom(user: string): boolean {
    const open = [...this.#open].map(([key, entrance]) => ({ key, ...entrance }));
    const numberOf = (one: string) => open.filter((entrance) => entrance.user === one).length;
    const own = numberOf(user);
    const isAtLimit = own >= most.ofOneUser;
    if (!isAtLimit && open.length < most.ofAllUsers) return true;
    const [closed] = open
      .filter((entrance) => entrance.user === user || (!isAtLimit && numberOf(entrance.user) > own))
      .filter(({ connections }) => ![...connections].some(({ isBusy }) => isBusy))
      .toSorted(
        (one, other) =>
          Number(one.connections.size > 0) - Number(other.connections.size > 0) ||
          numberOf(other.user) - numberOf(one.user),
      );
    if (!closed) return false;
    this.#open.delete(closed.key);
    void closed.server.close().catch(() => undefined);
    return true;
  }
}

/** The service has accepted the token, so its claims are true. An API key is a user of its own. */
function userOf(token: string): string {
  try {
    const { iss, sub } = decodeJwt(token);
    return JSON.stringify([iss, sub]);
  } catch {
    return token;
  }
}
