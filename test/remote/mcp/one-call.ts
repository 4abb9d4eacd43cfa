/** A hand-written server with one tool, `pay`, and how the tests of a single call reach it. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach } from 'vitest';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import type { RawMessage } from '../../servers/raw-mcp-server.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';

/** Remembers nothing of the servers of other tests, which may have had the same ports. */
let remote = openRemoteServers();
export const forget = () => void (remote = openRemoteServers());

/** To be called by each file that uses this one, which is loaded once for several of them. */
export function useOneCall(): void {
  beforeEach(forget);
  afterEach(async () => void (await Promise.all(running.splice(0).map((one) => one.stop()))));
}

const credential: Credential = {
  kind: 'credential',
  headers: { authorization: 'Bearer s3cret-token' },
  version: 1,
};
/** What is stopped after each test. */
export const running: { stop(): Promise<void> }[] = [];

export type Reply = (message: RawMessage, response: ServerResponse) => void | Promise<void>;
export type Era = 'modern' | 'legacy';

export async function peer(era: Era, on: Record<string, Reply>) {
  const server = await startRawMcpServer({ era, on });
  running.push(server);
  return server;
}

export function call(config: ServerConfig, signal = new AbortController().signal) {
  return remote.callTool(config, credential, {
    name: 'pay',
    arguments: { amount: 'five' },
    callId: 'c1',
    signal,
  });
}

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (_: RawMessage, response: ServerResponse) =>
    void response.writeHead(code, headers).end('Bearer s3cret-token and other internals');

export const done = { resultType: 'complete', content: [{ type: 'text', text: 'paid' }] };
