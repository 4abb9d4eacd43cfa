/** A client of the official SDK at our MCP endpoint, as a user's program would have it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { Service } from '../service/service.ts';

export interface ClientOptions {
  user?: string;
  capabilities?: ClientCapabilities;
  maxRounds?: number;
}

export async function connectClient(
  service: Pick<Service, 'baseUrl' | 'token'>,
  { user = 'alice', capabilities = {}, maxRounds = 10 }: ClientOptions = {},
): Promise<Client & AsyncDisposable> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: 'auto' }, inputRequired: { maxRounds } },
  );
  const token = await service.token(user);
  const transport = new StreamableHTTPClientTransport(new URL('/run/v1/mcp', service.baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
