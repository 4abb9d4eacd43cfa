import { afterEach, expect, test } from 'vitest';
import {
  beginStream,
  question,
  sendStream,
  startStreamServer,
  toEvents,
  toolCall,
  wholeTurn,
} from '../../../client/test/stream-server.ts';
import type { Reply, StreamServer } from '../../../client/test/stream-server.ts';
import { startChat } from './chat-process.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function serve(reply: Reply): Promise<StreamServer> {
  const server = await startStreamServer((response, nth, path, body) =>
    path === '/healthz' ? void response.end('{}') : reply(response, nth, path, body),
  );
  stack.defer(() => server.stop());
  return server;
}

const said = (text: string) => [
  { type: 'start' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: text },
  { type: 'text-end', id: 't' },
  { type: 'finish' },
];

test('piped messages are sent one after the other, and the answers come out as plain text', async () => {
  const server = await serve((response, nth, path) => {
    if (path.endsWith('/stream')) return void response.writeHead(204).end();
    sendStream(response, nth === 0 ? wholeTurn : said('Bye.'));
  });
  const chat = startChat([
    '--url',
    server.url,
    '--token',
    'secret',
    '--conversation',
    'c1',
    '--agent',
    'assistant',
  ]);
  chat.type('List my issues');
  chat.type('Thank you');
  chat.endInput();
  expect(await chat.ended).toBe(0);
  expect(chat.output().replace(/open until .*/, 'open until …')).toBe(`Let me look – gleich, 見て 👀.
  ● Tracker needs your account to run list issues.
    assistant asks, for Tracker at 127.0.0.1:3002

  Open this link in your browser:

  http://127.0.0.1:3000/auth/connect?e=q1

  n Not now    c Dismiss    then Enter; open until …
  ✓ Tracker is connected.
  ⚙ Tracker · list issues … done
Three issues:
- one
- two
- three
Bye.
`);
  const posts = server.requests.filter(({ method }) => method === 'POST');
  expect(posts).toMatchObject([
    { body: { id: 'c1', agentId: 'assistant', messages: [{ parts: [{ text: 'List my issues' }] }] } },
    { body: { messages: [{ parts: [{ text: 'Thank you' }] }] } },
  ]);
});

test('"n" waits for the question and says not now, and the turn goes on', async () => {
  const { promise: isAnswered, resolve: reportAnswered } = Promise.withResolvers<void>();
  const server = await serve(async (response, _nth, path) => {
    if (path === '/run/api/elicitation-responses') {
      reportAnswered();
      return void response.end(JSON.stringify({ elicitationId: 'q1', status: 'decline', duplicate: false }));
    }
    beginStream(response);
    response.write(toEvents([{ type: 'start' }, toolCall, question('pending')]));
    await isAnswered;
    response.end(toEvents([question('decline'), ...said('As you like.').slice(1)]));
  });
  const chat = startChat(['--url', server.url, '--token', 'secret']);
  chat.type('List my issues');
  chat.type('n');
  chat.endInput();
  expect(await chat.ended).toBe(0);
  expect(chat.output()).toContain('Not now: Tracker is left out.\nAs you like.\n');
  const answer = server.requests.find(({ path }) => path === '/run/api/elicitation-responses');
  expect(answer?.body).toEqual({
    conversationId: expect.any(String),
    elicitationId: 'q1',
    action: 'decline',
  });
});

test('a restart of the service in the middle of a question is one note, and nothing is printed twice', async () => {
  const before = await serve((response) => {
    beginStream(response);
    response.write(toEvents(wholeTurn.slice(0, 9)));
  });
  const chat = startChat(['--url', before.url, '--token', 'secret']);
  chat.type('List my issues');
  chat.endInput();
  await chat.sees('auth/connect?e=q1');
  await before.stop();
  await chat.sees('reconnecting');
  const after = await startStreamServer((response) => sendStream(response, wholeTurn), before.port);
  stack.defer(() => after.stop());
  expect(await chat.ended).toBe(0);
  expect(chat.output().match(/Let me look|needs your account|is connected|list issues …|- three/g)).toEqual([
    'Let me look',
    'needs your account',
    'is connected',
    'list issues …',
    '- three',
  ]);
  expect(chat.notes()).toBe('Connection lost; reconnecting …\n');
});

test('Ctrl+C leaves with one press, keeps the question open, and says how to come back', async () => {
  const server = await serve((response) => {
    beginStream(response);
    response.write(toEvents([{ type: 'start' }, toolCall, question('pending')]));
  });
  const chat = startChat(['--url', server.url, '--token', 'secret', '--conversation', 'c1']);
  await chat.sees('auth/connect');
  chat.interrupt();
  expect(await chat.ended).toBe(0);
  expect(server.requests.filter(({ path }) => /cancel|elicitation/.test(path))).toEqual([]);
  expect(chat.notes()).toMatch(
    /The question stays open until \S.*\. Come back with: .* --conversation c1\n$/,
  );
});

test('a failed turn says why and is reported in the exit code', async () => {
  const end = [{ type: 'error', errorText: 'The model is not reachable.' }, { type: 'finish' }];
  const server = await serve((response) => sendStream(response, [{ type: 'start' }, ...end]));
  const chat = startChat(['--url', server.url, '--token', 'secret']);
  chat.type('Hello');
  chat.endInput();
  expect(await chat.ended).toBe(1);
  expect(chat.output()).toBe('  ✗ The model is not reachable.\n');
});

test('what models and servers write cannot control the terminal', async () => {
  const server = await serve((response) =>
    sendStream(response, said('\u001b[2J\u001b]8;;http://evil\u0007safe\r\u009b1A')),
  );
  const chat = startChat(['--url', server.url, '--token', 'secret']);
  chat.type('Hello');
  chat.endInput();
  await chat.ended;
  expect(chat.output()).toBe('[2J]8;;http://evilsafe1A\n');
});

test('a live turn of an earlier conversation is shown first', async () => {
  const server = await serve((response) => sendStream(response, wholeTurn));
  const chat = startChat(['--url', server.url, '--token', 'secret', '--conversation', 'c1']);
  chat.endInput();
  expect(await chat.ended).toBe(0);
  expect(chat.output()).toContain('- three');
  expect(server.requests.at(-1)).toMatchObject({ method: 'GET', path: '/run/api/chat/c1/stream' });
});

test('a service that does not run is named, with the command to start it', async () => {
  const server = await startStreamServer(() => undefined);
  await server.stop();
  const chat = startChat(['--url', server.url, '--token', 'secret']);
  expect(await chat.ended).toBe(1);
  expect(chat.notes()).toContain(
    `Interlude does not answer at ${server.url}. Start it in another terminal, in its folder: npx interlude start`,
  );
});

test.each([
  [['--as'], 'as'],
  [['--url', 'nowhere'], "argument 'nowhere' is invalid. It is not a URL"],
  [['--colour'], '--colour'],
])('a wrong command line %j is explained', async (args, words) => {
  const chat = startChat(args);
  expect(await chat.ended).toBe(2);
  expect(chat.notes()).toContain(words);
});
