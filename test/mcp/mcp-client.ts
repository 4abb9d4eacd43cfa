/** A client of the official SDK at our MCP endpoint, as a user's program would have it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Service } from '../service/service.ts';

export interface ClientOptions {
  user?: string;
  /** The one that it is configured for. */
  agent?: string;
  capabilities?: ClientCapabilities;
  maxRounds?: number;
  headers?: Record<string, string>;
}

export async function connectClient(
  service: Pick<Service, 'baseUrl' | 'token'>,
  { user = 'alice', agent, capabilities = {}, maxRounds = 10, headers = {} }: ClientOptions = {},
): Promise<Client & AsyncDisposable> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: 'auto' }, inputRequired: { maxRounds } },
  );
  const token = await service.token(user);
  const address = `/run/v1/mcp${agent === undefined ? '' : `?agent=${agent}`}`;
  const transport = new StreamableHTTPClientTransport(new URL(address, service.baseUrl), {
    requestInit: { headers: { ...headers, authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** Of a question that is put as a link to our page: its id. */
export function pageIn(params: object): string {
  const url = 'url' in params ? String(params.url) : '';
  return /\/auth\/answer\?e=([\w-]+)/.exec(url)?.[1] ?? '';
}

/** One raw request of revision 2026-07-28, for results that the SDK's client does not know. */
export async function rawRequest(
  service: Pick<Service, 'baseUrl' | 'token'>,
  method: string,
  params: Record<string, unknown>,
  capabilities: object = {},
  { user = 'alice', headers = {} }: { user?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; result?: Record<string, unknown>; error?: { code: number; message: string } }> {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const response = await fetch(new URL('/run/v1/mcp', service.baseUrl), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await service.token(user)}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    }),
  });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const message = isStream ? (/^data: (\{.*"id".*)$/m.exec(text)?.[1] ?? '{}') : text;
  return { status: response.status, ...(JSON.parse(message) as object) };
}
