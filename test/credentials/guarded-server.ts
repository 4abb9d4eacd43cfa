/** An MCP-like server that requires a token of its authorization server. */
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { listen } from '../../demo/listen.ts';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { serverConfig as peerConfig } from '../servers/mcp-server.ts';
import { startAuthorizationServer } from './authorization-server.ts';
import type { AuthorizationServer } from './authorization-server.ts';

type Listener = (...exchange: Parameters<RequestListener>) => unknown;
type Options = Omit<Parameters<typeof startAuthorizationServer>[0], 'resource'>;

interface Answer {
  status: number;
  challenge: string | null;
}

export interface GuardedServer {
  config: ServerConfig;
  authorization: AuthorizationServer;
  /** Requests to the MCP endpoint that carried no credential. */
  uncredentialed: number;
  /** As a tool call would. */
  call: (headers: Record<string, string>, scope?: string) => Promise<Answer>;
}

export async function startGuardedServer(options: Options = {}): Promise<GuardedServer> {
  let guarded: GuardedServer;
  const origin = await startServer(async (request, response) => {
    const { url = '/' } = request;
    if (url === '/.well-known/oauth-protected-resource/mcp') {
      return json(response, { ...resourceDocument(`${origin}/mcp`, [guarded.authorization.issuer]) });
    }
    if (url !== '/mcp') return response.writeHead(404).end();
    if (!request.headers.authorization) guarded.uncredentialed++;
    const { AccessToken } = guarded.authorization.provider;
    const token = await AccessToken.find(bearer(request));
    const challenge = (error: string) =>
      `Bearer error="${error}", scope="issues:write", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    if (!token?.isValid) {
      return response.writeHead(401, { 'www-authenticate': challenge('invalid_token') }).end();
    }
    const needed = String(request.headers['x-needs-scope'] ?? '');
    if (needed !== '' && !token.scopes.has(needed)) {
      return response.writeHead(403, { 'www-authenticate': challenge('insufficient_scope') }).end();
    }
    return json(response, { account: token.accountId, audience: token.aud });
  });
  const authorization = await startAuthorizationServer({ resource: `${origin}/mcp`, ...options });
  onTestFinished(() => authorization.stop());
  guarded = {
    config: serverConfig(`${origin}/mcp`),
    authorization,
    uncredentialed: 0,
    async call(headers, scope) {
      const needs: Record<string, string> = scope === undefined ? {} : { 'x-needs-scope': scope };
      const response = await fetch(`${origin}/mcp`, { method: 'POST', headers: { ...headers, ...needs } });
      await response.body?.cancel();
      return { status: response.status, challenge: response.headers.get('www-authenticate') };
    },
  };
  return guarded;
}

export function serverConfig(url: string, more: Partial<ServerConfig> = {}): ServerConfig {
  return peerConfig(url, { name: 'tracker', title: 'Tracker', ...more });
}

export function resourceDocument(resource: string, issuers: string[]) {
  return { resource, authorization_servers: issuers, scopes_supported: ['issues:read'] };
}

/** Stops with the test. Answers the origin. */
export async function startServer(listener: Listener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    Promise.resolve(listener(request, response)).catch(() => response.destroy());
  });
  const listening = await listen(server, 0, 'none');
  onTestFinished(() => listening.stop());
  return `http://127.0.0.1:${listening.port}`;
}

export function json(response: Parameters<RequestListener>[1], body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function bearer(request: IncomingMessage): string {
  return request.headers.authorization?.replace(/^Bearer /, '') ?? 'none';
}
