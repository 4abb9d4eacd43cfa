/** Recordings: the same bytes from the same conversation, without secrets; replayed to clients, and to servers. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureAnswers } from '../src/answers/fixture.ts';
import { declineAll } from '../src/answers/source.ts';
import type { AnyClient } from '../src/call/any-client.ts';
import { callTool } from '../src/call/call-tool.ts';
import { readCassette, toText } from '../src/cassette/cassette.ts';
import type { Cassette } from '../src/cassette/cassette.ts';
import { record, redactCassette } from '../src/cassette/record.ts';
import { replay, replayCalls } from '../src/cassette/replay.ts';
import { startAskingServer } from '../../../test/servers/asking-server.ts';
import type { AskingServer } from '../../../test/servers/asking-server.ts';
import { startScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../../test/servers/scripted-mcp-server.ts';

let asking: AskingServer;
let playing: ScriptedMcpServer;
beforeAll(async () => {
  [asking, playing] = await Promise.all([startAskingServer({ era: 'both' }), startScriptedMcpServer()]);
});
afterAll(() => Promise.all([asking.stop(), playing.stop()]));

type Era = 'modern' | 'legacy';
const three = fixtureAnswers({ fields: { nights: 3 } });
const newClient = (era: Era) =>
  new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  );

async function recorded(
  url: string,
  era: Era,
  tool: string,
  secrets: string[] = [],
  answers = three,
): Promise<string> {
  const transport = new StreamableHTTPClientTransport(new URL(url));
  const recorder = record(transport, { secrets });
  const client = newClient(era);
  await client.connect(transport);
  await callTool(client, { name: tool }, { answers });
  await client.close();
  return recorder.text();
}

/** The same client at the recording, recorded again. */
async function again(
  text: string,
  era: Era,
  tool: string,
): Promise<{ text: string; differences: unknown[]; missing: string[] }> {
  const server = replay(readCassette(text));
  const recorder = record(server.transport);
  const client = newClient(era);
  await client.connect(server.transport);
  await callTool(client, { name: tool }, { answers: three });
  await client.close();
  return { text: recorder.text(), differences: server.differences, missing: server.missing() };
}

describe.each<Era>(['modern', 'legacy'])('of the %s era', (era) => {
  test.each(['wizard', 'compare'])(
    '%s: recorded once and replayed twenty times, the bytes are equal',
    async (tool) => {
      const text = await recorded(asking.config.url, era, tool);
      expect(toText(readCassette(text))).toBe(text);
      for (let time = 0; time < 20; time++)
        expect(await again(text, era, tool)).toEqual({ text, differences: [], missing: [] });
    },
  );

  test('a client that answers differently is told how', async () => {
    const server = replay(readCassette(await recorded(asking.config.url, era, 'compare')));
    const client = newClient(era);
    await client.connect(server.transport);
    await callTool(client, { name: 'compare' }, { answers: fixtureAnswers({ fields: { nights: 4 } }) });
    await client.close();
    const lines = server.differences.flatMap((difference) =>
      difference.lines.map((line) => line.replace(/\s+/g, ' ')),
    );
    expect(lines).toEqual(expect.arrayContaining(['- nights: 3', '+ nights: 4']));
  });

  test('several calls in one recording are compared each by itself', async () => {
    const transport = new StreamableHTTPClientTransport(new URL(asking.config.url));
    const recorder = record(transport);
    const client = newClient(era);
    await client.connect(transport);
    for (const name of ['compare', 'wizard']) await callTool(client, { name }, { answers: three });
    const cassette = readCassette(recorder.text());
    recorder.stop();
    const { reports, differences } = await replayCalls(client, cassette);
    await client.close();
    expect([reports.map(({ tool }) => tool), differences]).toEqual([['compare', 'wizard'], []]);
  });

  test('its calls are made at a server again, and what the server says differently is a difference', async () => {
    const cassette = readCassette(await recorded(asking.config.url, era, 'wizard'));
    const client = newClient(era);
    await client.connect(new StreamableHTTPClientTransport(new URL(asking.config.url)));
    expect((await replayCalls(client, cassette)).differences).toEqual([]);
    const text = JSON.stringify(cassette).replaceAll('city 3?', 'village 3?');
    const { differences } = await replayCalls(client, JSON.parse(text) as Cassette);
    await client.close();
    expect(differences.map(({ what }) => what)).toEqual(['The server answers wizard differently.']);
    expect(differences[0]?.lines.join('\n')).toMatch(/- .*village 3\?\n(?:.*\n)*?\+ .*city 3\?/);
  });
});

test('a client of the first SDK is served, too', async () => {
  const server = replay(readCassette(await recorded(asking.config.url, 'legacy', 'wizard')));
  const client = new FirstClient({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  await client.connect(server.transport as Parameters<typeof client.connect>[0]);
  const { end } = await callTool(client as unknown as AnyClient, { name: 'wizard' }, { answers: three });
  expect([end, server.differences]).toMatchObject([
    { kind: 'result', result: { content: [{ text: 'wizard 3,3,3,' }] } },
    [],
  ]);
});

const form = (properties: object) => ({
  resultType: 'input_required',
  inputRequests: {
    a: {
      method: 'elicitation/create',
      params: { message: 'Who?', requestedSchema: { type: 'object', properties } },
    },
  },
});

test('no secret is in it: neither by name, nor by mark, nor by value, nor by its shape', async () => {
  const secrets = { apiKey: 'k-hunter-2', pin: '7391', marked: 'marked-value', titled: 'titled "value"' };
  const jwt = 'eyJhbGciOiJIUzI1.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
  playing.play(
    form({
      apiKey: { type: 'string' },
      pin: { type: 'string' },
      marked: { type: 'string', format: 'password' },
      titled: { type: 'string', title: 'Your passphrase' },
    }),
    {
      resultType: 'complete',
      content: [
        {
          type: 'text',
          text: `${JSON.stringify(secrets)} Bearer abcdefgh12345 ${jwt} https://a.example/?code=c0de-of-mine&x=1 given-token`,
        },
      ],
    },
  );
  const answers = fixtureAnswers({ fields: secrets });
  const text = await recorded(playing.url, 'modern', 'ask', ['given-token'], answers);
  for (const secret of [
    ...Object.values(secrets),
    'titled \\"value',
    'abcdefgh12345',
    jwt,
    'c0de-of-mine',
    'given-token',
  ])
    expect(text).not.toContain(secret);
  expect(text).toContain('x=1');
});

describe('what a server repeats of requests and files is hidden:', () => {
  const key = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7';
  const pem = (kind: string) => `-----BEGIN ${kind}-----\n${key}\n${key}\n-----END ${kind}-----`;
  const aliceAndSecret = Buffer.from('alice:s3cret-of-alice').toString('base64');
  test.each([
    ['Basic credentials', `Basic ${aliceAndSecret}`, aliceAndSecret],
    ['a header on a command line', `curl -H "Authorization: Basic ${aliceAndSecret}" x`, aliceAndSecret],
    ['a header of another scheme', 'authorization: ApiKey 0123456789abcdef', '0123456789abcdef'],
    ['a digest', 'Authorization: Digest username="alice", response="6629fae49393"', '6629fae49393'],
    ['a cookie', 'Cookie: theme=dark; sid=0123456789abcdef', '0123456789abcdef'],
    ['a cookie that is set', 'set-cookie: sid=0123456789abcdef; Path=/; HttpOnly', '0123456789abcdef'],
    ['a header with a key', 'x-api-key: 0123456789abcdef', '0123456789abcdef'],
    ['a password in an address', 'postgres://alice:s3cret-of-alice@db.example/x', 's3cret-of-alice'],
    ['a private key', pem('PRIVATE KEY'), key],
    ['an RSA key', pem('RSA PRIVATE KEY'), key],
    ['an OpenSSH key', pem('OPENSSH PRIVATE KEY'), key],
    ['a PGP key', pem('PGP PRIVATE KEY BLOCK'), key],
    ['a key that was cut off', `-----BEGIN PRIVATE KEY-----\n${key}\n${key}`, key],
    ['an API key of this service', `ilk_0123456789abcdef_${'k'.repeat(43)}`, 'k'.repeat(43)],
    ['a key of Google', `AIza${'Sy-_0123456789'.repeat(3)}`, '0123456789'],
    ['a token of npm', `npm_${'a1B2'.repeat(9)}`, 'a1B2a1B2'],
    ['a line of an environment file', 'DB_PASSWORD=hunter2-of-alice', 'hunter2'],
    ['a key in a connection string', 'Account=a;AccountKey=aGVsbG8=;Suffix=x', 'aGVsbG8'],
    ['a password in JSON', '{"user":"alice","password": "hunter2-of-alice"}', 'hunter2'],
  ])('%s', (_, text, secret) => {
    const cassette = (said: unknown) =>
      toText(
        redactCassette({
          cassette: 1,
          protocol: '',
          exchanges: [{ request: { method: 'x' }, response: { result: said } }],
        }),
      );
    for (const said of [text, { content: [{ text }] }, JSON.stringify({ text })]) {
      expect(cassette(said)).not.toContain(secret);
      expect(cassette(said)).toContain('[redacted]');
    }
    expect(cassette({ headers: { 'Set-Cookie': ['sid=abcdef'], authorization: 'abcdef' } })).not.toContain(
      'abcdef',
    );
  });

  test.each([
    'Basic information about subscriptions',
    'The cookie: a small cake. Authorization: by the operator, as always',
    'https://a.example:8080/x@y',
    'Password: at least 8 characters. A token="" is none, and npm_config is no token',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  ])('but not %j', (text) => {
    const exchanges = [{ request: { method: 'x' }, response: { result: text } }];
    expect(redactCassette({ cassette: 1, protocol: '', exchanges }).exchanges).toEqual(exchanges);
  });
});

test('the state is kept to the byte, but for a secret that stands in it', async () => {
  const state = ' \u0000\u2028"\\ü: [#&*!|>%@`]\n\t ~ eyJhbGciOiJIUzI1.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';
  playing.play({ ...form({ city: { type: 'string' } }), requestState: state });
  const text = await recorded(playing.url, 'modern', 'ask', [], fixtureAnswers({ fields: { city: 'Rome' } }));
  const states = readCassette(text)
    .exchanges.map(({ request }) => request.params?.['requestState'])
    .filter(Boolean);
  expect(states).toEqual([state]);
  const cassette: Cassette = {
    cassette: 1,
    protocol: '',
    exchanges: [{ request: { method: 'x', params: { requestState: 'a-topsecret-b' } } }],
  };
  expect(toText(redactCassette(cassette, ['topsecret']))).toContain('a-[redacted]-b');
});

test('what is asked in a turn is one list, whatever the era', async () => {
  for (const era of ['modern', 'legacy'] as const) {
    const { exchanges } = readCassette(await recorded(asking.config.url, era, 'compare'));
    expect(exchanges.flatMap(({ questions = [] }) => questions.map(({ message }) => message))).toEqual([
      'How many nights in Rome?',
      'How many nights in Oslo?',
    ]);
  }
});

test('a call that was recorded and not made is missing', async () => {
  const server = replay(readCassette(await recorded(asking.config.url, 'modern', 'compare', [], declineAll)));
  expect(server.missing()).toEqual([
    'tools/call compare was recorded, and was not called.',
    'tools/call compare was recorded, and was not called.',
  ]);
});

test.each(['[]', 'cassette: 2', 'a: b'])('%s is no cassette', (text) => {
  expect(() => readCassette(text)).toThrow('It is no cassette');
});
