/** Servers of the old era that ask on a stream of its own, beside the call: the simplest way to ask in stock servers. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { Credential } from '../../../../src/credentials/credential-store.ts';
import type { AskUser } from '../../../../src/remote/remote-servers.ts';
import { answer, sendEvent, startStream } from '../../../servers/raw-mcp-server.ts';
import type { RawMcpServer } from '../../../servers/raw-mcp-server.ts';
import { done, peer, useOneCall } from '../one-call.ts';
import { openRemoteServers } from '../../../../src/remote/open-remote-servers.ts';

useOneCall();

/** Remembers nothing of the servers of other tests, which may have had the same ports. */
let remote = openRemoteServers();
beforeEach(() => void (remote = openRemoteServers()));

const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };
const requestedSchema = { type: 'object', properties: { nights: { type: 'integer' } } };

function callAsked({ config }: RawMcpServer, isFormShown = true) {
  const hold: AskUser = {
    ask: ({ key }) =>
      Promise.resolve({
        kind: 'answer',
        outcome: 'accept',
        answer: { key, action: 'accept', content: { nights: 3 } },
      }),
    pageDone: () => undefined,
  };
  const capabilities = { form: isFormShown, url: false };
  const signal = new AbortController().signal;
  return remote.callTool(config, nobody, {
    name: 'book',
    arguments: {},
    callId: 'c1',
    capabilities,
    askUser: hold,
    signal,
  });
}

test('a question beside the call is put to the user, and the answer reaches the call', async () => {
  const standing = Promise.withResolvers<ServerResponse>();
  const answered = Promise.withResolvers<unknown>();
  const server = await peer('legacy', {
    GET: (_, response) => {
      startStream(response);
      standing.resolve(response);
    },
    'tools/call': async (message, response) => {
      const params = { message: 'How many nights?', requestedSchema };
      sendEvent(await standing.promise, { id: 7, method: 'elicitation/create', params });
      await answered.promise;
      answer(message, response, done);
    },
    response: (message, response) => {
      answered.resolve(message);
      response.writeHead(202).end();
    },
  });
  expect(await callAsked(server)).toMatchObject({ kind: 'result' });
  const said = { jsonrpc: '2.0', id: 7, result: { action: 'accept', content: { nights: 3 } } };
  expect(await answered.promise).toMatchObject(said);
});

test('a question beside the call is held also where the call itself could be left and taken up again', async () => {
  const standing = Promise.withResolvers<ServerResponse>();
  const answered = Promise.withResolvers<void>();
  const server = await peer('legacy', {
    initialize: (message, response) => {
      response.setHeader('mcp-session-id', 'one');
      const serverInfo = { name: 'raw', version: '1' };
      answer(message, response, {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo,
      });
    },
    GET: (_, response) => {
      startStream(response);
      standing.resolve(response);
    },
    'tools/call': async ({ id }, response) => {
      startStream(response);
      sendEvent(response, { method: 'notifications/message', params: { level: 'info', data: '' } }, 'e1');
      const params = { message: 'How many nights?', requestedSchema };
      sendEvent(await standing.promise, { id: 7, method: 'elicitation/create', params });
      await answered.promise;
      sendEvent(response, { id, result: done }, 'e2');
      response.end();
    },
    response: (_, response) => {
      answered.resolve();
      response.writeHead(202).end();
    },
  });
  expect(await callAsked(server)).toMatchObject({ kind: 'result', result: { content: done.content } });
});

test('the call is made when the stream is open: what is said before is lost', async () => {
  const order: string[] = [];
  const server = await peer('legacy', {
    GET: async (_, response) => {
      await sleep(100);
      order.push('stream');
      startStream(response);
    },
    'tools/call': (message, response) => {
      order.push('call');
      answer(message, response, done);
    },
  });
  expect(await callAsked(server)).toMatchObject({ kind: 'result' });
  expect(order).toEqual(['stream', 'call']);
});

test('a server that never opens the stream is called all the same', async () => {
  const server = await peer('legacy', {
    GET: () => {},
    'tools/call': (message, response) => answer(message, response, done),
  });
  expect(await callAsked(server)).toMatchObject({ kind: 'result' });
  expect(server.count('GET')).toBe(1);
});

test.each([
  ['legacy', 'for a user who cannot be asked', false],
  ['modern', 'where questions come with the answer', true],
] as const)('no stream is opened at a %s server %s', async (era, _, isFormShown) => {
  const server = await peer(era, { 'tools/call': (message, response) => answer(message, response, done) });
  expect(await callAsked(server, isFormShown)).toMatchObject({ kind: 'result' });
  expect(server.count('GET')).toBe(0);
});
