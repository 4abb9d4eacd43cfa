/** Connected clients of both SDK generations, as an author of tests has them. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { AnyClient } from '../src/call/any-client.ts';

export interface TestClient {
  client: AnyClient;
  close(): Promise<void>;
}

const info = { name: 'test', version: '1' };
const capabilities = { elicitation: { form: {}, url: {} } };

export async function connectSecond(url: string, era: 'modern' | 'legacy'): Promise<TestClient> {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : ('legacy' as const);
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, close: () => client.close() };
}

export async function connectFirst(url: string): Promise<TestClient> {
  const client = new FirstClient(info, { capabilities });
  await client.connect(new FirstTransport(new URL(url)) as Parameters<typeof client.connect>[0]);
  return { client: client as unknown as AnyClient, close: () => client.close() };
}
