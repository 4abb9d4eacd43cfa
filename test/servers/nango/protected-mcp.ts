/**
 * An MCP server that takes the tokens of the account provider and no others, and remembers whose they were. What it
 * does with them is what Tracker does: it lists issues, and creates them.
 */
import type { ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, requireScopes } from '@modelcontextprotocol/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { serve } from '../serve.ts';
import type { Exchange } from '../serve.ts';
import type { AccountProvider, PersonName } from './account-provider.ts';

export type ProtectedMcp = Awaited<ReturnType<typeof openProtectedMcp>>;

export async function openProtectedMcp(provider: AccountProvider) {
  const handle = toNodeHandler(createMcpHandler(({ authInfo }) => build(authInfo)));
  const { origin, stop } = await serve(answer);
  const mcp = {
    /** Address of the MCP endpoint. */
    url: `${origin}/mcp`,
    /** Tool calls that were let in and done, oldest first, with whose token; `title` of the issue that was created. */
    calls: [] as { tool: string; person: PersonName; accessToken: string; title?: string }[],
    /** Every request to the endpoint, with what it was answered. */
    requests: [] as { status: number; hadToken: boolean }[],
    /** Answers every request like this, with any token. */
    refuse: null as 'invalid_token' | 'insufficient_scope' | null,
    stop,
  };

  function build(authInfo: AuthInfo | undefined): McpServer {
    const tools = new McpServer({ name: 'acme', title: 'Acme', version: '1.0.0' });
    const done = (tool: string, title?: string) => {
      const person = authInfo?.extra?.['person'] as PersonName;
      const accessToken = authInfo?.token ?? '';
      mcp.calls.push({ tool, person, accessToken, ...(title !== undefined && { title }) });
      const text = title === undefined ? `Issues of ${person}` : `Created ${title} for ${person}`;
      return { content: [{ type: 'text' as const, text }] };
    };
    tools.registerTool(
      'list_issues',
      {
        inputSchema: z.object({ state: z.string().optional() }),
        annotations: { readOnlyHint: true },
        scopeChallenge: requireScopes('issues:read'),
      },
      () => done('list_issues'),
    );
    tools.registerTool(
      'create_issue',
      {
        inputSchema: z.object({ title: z.string() }),
        annotations: { readOnlyHint: false, idempotentHint: false },
        scopeChallenge: requireScopes('issues:read', 'issues:write'),
      },
      ({ title }) => done('create_issue', title),
    );
    return tools;
  }

  async function answer({ request, response, body }: Exchange): Promise<void> {
    if (request.url !== '/mcp') return void response.writeHead(404).end();
    const token = request.headers.authorization?.replace(/^Bearer /, '');
    const seen = { status: 0, hadToken: token !== undefined };
    mcp.requests.push(seen);
    response.on('finish', () => (seen.status = response.statusCode));
    const holder = token === undefined ? null : provider.holder(token);
    if (mcp.refuse === 'insufficient_scope') return refuse(response, 403, mcp.refuse);
    if (token === undefined || !holder || mcp.refuse !== null) return refuse(response, 401, 'invalid_token');
    const { person, scopes } = holder;
    const auth = { token, clientId: provider.clientId, scopes, extra: { person } };
    Object.assign(request, { auth });
    await handle(
      request as Parameters<typeof handle>[0],
      response,
      body === '' ? undefined : JSON.parse(body),
    );
  }

  function refuse(response: ServerResponse, status: 401 | 403, error: string): void {
    const scope = status === 403 ? ', scope="issues:admin"' : '';
    response.writeHead(status, { 'www-authenticate': `Bearer error="${error}"${scope}` }).end();
  }

  return mcp;
}
