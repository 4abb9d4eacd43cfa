/**
 * Files: an MCP server behind a strict authorization server. It believes no token by itself: it asks the server that
 * gave it what it is worth, or, where tokens are signed, checks the signature.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
  requireScopes,
} from '@modelcontextprotocol/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { z } from 'zod';
import { startAuthorizationServer } from '../credentials/authorization-server.ts';
import { sendJson, serve } from './serve.ts';
import type { Exchange } from './serve.ts';

export type StrictFiles = Awaited<ReturnType<typeof startStrictFiles>>;

type Options = Omit<Parameters<typeof startAuthorizationServer>[0], 'resource' | 'scopes'>;
type Held = { arrive: () => void; released: Promise<void> };

const scopes = { read: 'files:read', write: 'files:write' };

export async function startStrictFiles(options: Options = {}) {
  const { origin, stop } = await serve((exchange) => answer(exchange));
  const url = `${origin}/mcp`;
  const authorization = await startAuthorizationServer({
    accessTokenSeconds: 300,
    isStrict: true,
    ...options,
    resource: () => url,
    scopes: Object.values(scopes),
  });
  const signatures = createRemoteJWKSet(new URL(`${authorization.issuer}/jwks`));
  let held: Held | undefined;

  const files = {
    url,
    authorization,
    /** Tool calls that were carried out, oldest first. */
    calls: [] as { tool: string; account: string; token: string }[],
    /** MCP requests that arrived with this status of their credential. */
    refusals: [] as { status: number; challenge: string }[],
    /** How a token that is not valid is answered, in place of 401; `all`: whether or not it is valid. */
    refuseWith: null as {
      status: number;
      headers: Record<string, string>;
      body: string;
      all?: boolean;
    } | null,
    /** Stops the next tool call until released. */
    hold(): { arrived: Promise<void>; release: () => void } {
      const arrived = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = { arrive: arrived.resolve, released: released.promise };
      return { arrived: arrived.promise, release: released.resolve };
    },
    async stop(): Promise<void> {
      await authorization.stop();
      await stop();
    },
  };

  async function verifyAccessToken(token: string): Promise<AuthInfo> {
    const found = token.includes('.') ? await signed(token) : await authorization.introspect(token);
    if (!found) throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is not valid or no longer is');
    const { account, ...rest } = found;
    return { token, ...rest, resource: new URL(url), extra: { account } };
  }

  async function signed(token: string) {
    const verified = await jwtVerify(token, signatures, {
      issuer: authorization.issuer,
      audience: url,
    }).catch(() => null);
    const { sub, client_id: clientId, scope, exp = 0 } = verified?.payload ?? {};
    return (
      verified && {
        account: String(sub),
        clientId: String(clientId),
        scopes: String(scope).split(' '),
        expiresAt: exp,
      }
    );
  }

  const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(url));
  const check = requireBearerAuth({
    verifier: { verifyAccessToken },
    resourceMetadataUrl: metadataUrl,
    expectedResource: new URL(url),
  });
  const caller = new AsyncLocalStorage<AuthInfo>();
  const mcp = toNodeHandler(createMcpHandler(() => build()));

  function build(): McpServer {
    const server = new McpServer({ name: 'files', version: '1.0.0' });
    const add = (tool: string, needed: [string, ...string[]], readOnlyHint: boolean) =>
      server.registerTool(
        tool,
        {
          inputSchema: z.object({}),
          annotations: { readOnlyHint },
          scopeChallenge: requireScopes(...needed),
        },
        async () => {
          const { token, extra } = caller.getStore() ?? { token: '' };
          const waiting = held;
          held = undefined;
          waiting?.arrive();
          await waiting?.released;
          const account = String(extra?.['account']);
          files.calls.push({ tool, account, token });
          return { content: [{ type: 'text', text: `Done as ${account}.` }] };
        },
      );
    add('look', [scopes.read], true);
    add('save', [scopes.read, scopes.write], false);
    return server;
  }

  async function answer({ request, response, url: { pathname }, body }: Exchange): Promise<void> {
    if (pathname === new URL(metadataUrl).pathname)
      return sendJson(response, {
        resource: url,
        authorization_servers: [authorization.issuer],
        scopes_supported: [scopes.read],
      });
    if (pathname !== '/mcp') return void response.writeHead(404).end();
    response.on('finish', () => {
      const { statusCode: status } = response;
      if (status === 401 || status === 403)
        files.refusals.push({ status, challenge: String(response.getHeader('www-authenticate')) });
    });
    const { authorization: header = '' } = request.headers;
    const found = await check(new Request(url, { headers: { authorization: header } }));
    const instead = files.refuseWith;
    const isInvalid = found instanceof Response && found.status === 401;
    if (instead && header !== '' && (isInvalid || instead.all)) {
      files.refusals.push({ status: instead.status, challenge: '' });
      return void response.writeHead(instead.status, instead.headers).end(instead.body);
    }
    if (found instanceof Response)
      return void response.writeHead(found.status, Object.fromEntries(found.headers)).end(await found.text());
    Object.assign(request, { auth: found });
    const message: unknown = body === '' ? undefined : JSON.parse(body);
    await caller.run(found, () => mcp(request as Parameters<typeof mcp>[0], response, message));
  }

  return files;
}
