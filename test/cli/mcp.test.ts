/** `interlude mcp` as the program that an editor starts, with the clients of both SDKs on its stdio. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import type { ElicitRequest } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { serveStdio } from '@interlude-ai/program/commands/mcp.ts';
import { useAskingService } from '../asking/asking-service.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { startCommand } from './start-command.ts';

const setup = useAskingService();
const capabilities = { elicitation: { form: {}, url: {} } };
const script = path.resolve(import.meta.dirname, '../../src/cli/checkout.ts');
const callAsk = { name: 'ask_assistant', arguments: { message: 'call asking__ask {}' } };
const lisbon = { action: 'accept' as const, content: { city: 'Lisbon' } };

const program = async (...words: string[]) => ({
  command: process.execPath,
  args: [script, 'mcp', '--service', setup.service.baseUrl, ...words],
  env: { ...bareEnvironment(), INTERLUDE_TOKEN: await setup.service.token('alice') } as Record<
    string,
    string
  >,
});

test('a client of the newer era asks its user', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const seen: ElicitRequest['params'][] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    seen.push(params);
    return lisbon;
  });
  await client.connect(new StdioClientTransport(await program('--agent', 'assistant')));
  const { tools } = await client.listTools();
  expect(tools.filter(({ name }) => name.startsWith('ask_')).map(({ name }) => name)).toEqual([
    'ask_assistant',
  ]);
  expect(await client.callTool(callAsk)).toMatchObject({ structuredContent: { status: 'completed' } });
  expect(seen).toMatchObject([{ message: expect.stringContaining('Which city?') }]);
  await client.close();
});

test('a client of the older era asks its user', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const client = new FirstClient({ name: 'test', version: '1' }, { capabilities });
  const seen: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    seen.push(params.message);
    return lisbon;
  });
  await client.connect(new FirstTransport(await program()));
  expect(await client.callTool(callAsk)).toMatchObject({ structuredContent: { status: 'completed' } });
  expect(seen).toEqual([expect.stringContaining('Which city?')]);
  await client.close();
});

test('a question outlasts the connection to the service: it is asked once, and the call goes on', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(setup.service.baseUrl);
  let told = 0;
  const toldAgain = Promise.withResolvers<void>();
  const between = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    far.on('data', (bytes) => {
      if (bytes.includes('elicitation/create') && ++told === 2) toldAgain.resolve();
    });
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  const service = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  const client = new FirstClient({ name: 'test', version: '1' }, { capabilities });
  let times = 0;
  client.setRequestHandler(ElicitRequestSchema, async () => {
    times++;
    for (const socket of sockets) socket.destroy();
    await toldAgain.promise;
    return lisbon;
  });
  const { args, ...rest } = await program();
  await client.connect(new FirstTransport({ ...rest, args: [...args, '--service', service] }));
  expect(await client.callTool(callAsk)).toMatchObject({ structuredContent: { status: 'completed' } });
  expect([
    times,
    setup.server.calls.filter(({ params }) => params.inputResponses === undefined).length,
  ]).toEqual([1, 1]);
  await client.close();
  between.close();
});

test('a token that was good is used on while nobody is there to give another one', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const given = [await setup.service.token('alice')];
  const served = serveStdio({
    address: `${setup.service.baseUrl}/run/v1/mcp`,
    tokens: {
      async token() {
        const token = given.shift();
        if (token === undefined) throw new Error('The issuer does not answer.');
        return token;
      },
    },
    input,
    output,
  });
  const ask = async (id: number, method: string, params: object) => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return JSON.parse(String((await lines.next()).value)) as unknown;
  };
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  expect(await ask(1, 'initialize', hello)).toMatchObject({
    id: 1,
    result: { protocolVersion: '2025-11-25' },
  });
  expect(await ask(2, 'ping', {})).toMatchObject({ id: 2, result: {} });
  input.end();
  await served;
});

test.each([
  ['a token that is none', { INTERLUDE_TOKEN: 'nonsense' }, [], 'neither an access token'],
  ['an agent that is none', {}, ['--agent', 'nobody'], 'There is no agent "nobody"'],
])('%s is an error in words', async (_, env, words, expected) => {
  const { command, args, env: good } = await program(...words);
  const client = new FirstClient({ name: 'test', version: '1' });
  await expect(
    client.connect(new FirstTransport({ command, args, env: { ...good, ...env } })),
  ).rejects.toThrow(expected);
  await client.close();
});

test('it says on its command line what it is for', async () => {
  const { output } = await startCommand(['mcp', '--help'], {});
  expect(output).toContain('--agent <name>');
});
