/** An MCP-like server that requires a token of its authorization server. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { serverConfig as peerConfig } from '../servers/mcp-server.ts';
import { sendJson, serve } from '../servers/serve.ts';
import { startAuthorizationServer } from './authorization-server.ts';
import type { AuthorizationServer } from './authorization-server.ts';

type Listener = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;
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
      return sendJson(response, { ...resourceDocument(`${origin}/mcp`, [guarded.authorization.issuer]) });
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
    return sendJson(response, { account: token.accountId, audience: token.aud });
  });
  const authorization = await startAuthorizationServer({ resource: () => `${origin}/mcp`, ...options });
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

/** The metadata of an authorization server, without registration. */
export function issuerDocument(issuer: string, more: Record<string, unknown> = {}) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    ...more,
  };
}

export { sendJson as json };

/** Stops with the test. Answers the origin. */
export async function startServer(listener: Listener): Promise<string> {
  const { origin, stop } = await serve(({ request, response, body }) => listener(request, response, body));
  onTestFinished(stop);
  return origin;
}

function bearer(request: IncomingMessage): string {
  return request.headers.authorization?.replace(/^Bearer /, '') ?? 'none';
}
