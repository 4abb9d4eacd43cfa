/**
 * Tracker: an issue tracker that exists only as an MCP server, protected by its own authorization server. A real
 * one in everything but its size, so that the demo and the tests meet what they would meet outside.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { listen } from '../listen.ts';
import { loadOrCreateProviderKeys } from '../provider-keys.ts';
import { createAccess } from './access.ts';
import type { Account } from './accounts.ts';
import { createAuthorizationServer } from './authorization-server.ts';
import { createFaults } from './faults.ts';
import type { Faults } from './faults.ts';
import { openFileAdapter } from './file-adapter.ts';
import { pageHeaders, problemPage, welcomePage } from './pages.ts';
import { handleSignIn } from './sign-in.ts';
import { openIssueStore } from './store.ts';
import type { ExecutedCall, IssueStore } from './store.ts';
import { buildTracker } from './tools.ts';

export interface TrackerOptions {
  /** 0 takes a free one. */
  port: number;
  /** Where issues, clients, grants and keys are kept. */
  dataDir: string;
  accessTokenSeconds?: number;
}

export interface Tracker {
  /** Address of the MCP endpoint. */
  url: string;
  origin: string;
  /** MCP requests that arrived so far, let in or not. */
  readonly requests: number;
  /** Every tool call that was executed, oldest first; also at `GET /debug/calls`. */
  readonly calls: readonly ExecutedCall[];
  issues: Pick<IssueStore, 'list' | 'get'>;
  faults: Faults;
  /** Life of access tokens given from now on. */
  accessTokenSeconds: number;
  /** Ends every connection of an account, as the account's settings page would. */
  revoke(account: Account): void;
  stop(): Promise<void>;
}

export async function startTracker({
  port,
  dataDir,
  accessTokenSeconds = 3600,
}: TrackerOptions): Promise<Tracker> {
  const server = createServer();
  const listening = await listen(server, port, 'DEMO_TRACKER_PORT');
  const origin = `http://127.0.0.1:${listening.port}`;
  const url = `${origin}/mcp`;

  const store = openIssueStore(dataDir);
  const adapter = openFileAdapter(dataDir);
  const keys = await loadOrCreateProviderKeys(path.join(dataDir, 'keys.json'), 'ES256');
  const provider = createAuthorizationServer({
    issuer: origin,
    resource: url,
    adapter,
    keys,
    accessTokenSeconds: () => tracker.accessTokenSeconds,
  });
  const access = createAccess({ issuer: origin, resource: url, adapter, keys });
  const current = new AsyncLocalStorage<ServerResponse>();
  const faults = createFaults(() => current.getStore()?.socket?.destroy());
  const mcp = toNodeHandler(createMcpHandler((context) => buildTracker(store, faults, context)));
  const authorize = provider.callback();
  const isLocal = localhostHostValidation();
  let requests = 0;

  const tracker: Tracker = {
    url,
    origin,
    get requests() {
      return requests;
    },
    calls: store.calls,
    issues: store,
    faults,
    accessTokenSeconds,
    revoke(account) {
      for (const [id, grant] of adapter.entries('Grant'))
        if (grant.accountId === account) adapter.revokeGrant(id);
    },
    stop: listening.stop,
  };

  async function serveMcp(
    request: IncomingMessage & { auth?: AuthInfo },
    response: ServerResponse,
  ): Promise<void> {
    requests++;
    if (faults.refuseWith !== null) return void response.writeHead(faults.refuseWith).end();
    const { authorization = '' } = request.headers;
    const caller = await access.check(new Request(url, { headers: { authorization } }));
    if (caller instanceof Response) {
      response.writeHead(caller.status, Object.fromEntries(caller.headers)).end(await caller.text());
      return;
    }
    request.auth = caller;
    await current.run(response, () => mcp(request as Parameters<typeof mcp>[0], response));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocal(request, response)) return;
    const { pathname } = new URL(request.url ?? '/', origin);
    if (pathname === '/mcp') return serveMcp(request, response);
    if (access.metadataPaths.includes(pathname)) return sendJson(response, access.metadata);
    if (pathname === '/debug/calls') return sendJson(response, { calls: store.calls });
    if (pathname === '/') return void response.writeHead(200, pageHeaders).end(welcomePage(url));
    if (pathname.startsWith('/sign-in/')) return handleSignIn(provider, request, response);
    await authorize(request, response);
  }

  server.on('request', (request, response) => {
    serve(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500, pageHeaders).end(problemPage());
    });
  });
  return tracker;
}

function sendJson(response: ServerResponse, body: object): void {
  response
    .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}
