/**
 * `interlude try` at servers of others: each source of answers, each way to end, each failure of a responder with its exit
 * code; and recordings, which are the same bytes each time and hold no secret.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startTravelDesk } from '../../../../demo/travel/travel.ts';
import { serveOverHttp } from '../../src/try/serve-replay.ts';
import { readCassetteFile } from '../../src/try/cassette-file.ts';
import { createReplayServer } from '../../src/cassette/replay-server.ts';
import { runTryCommand } from './in-process.ts';
import type { TryEnd } from './in-process.ts';
import { freePort } from '../../../../test/free-port.ts';
import { startAskingServer } from '../../../../test/servers/asking-server.ts';
import { everythingFilled, startEverything } from '../../../../test/servers/everything-server.ts';
import { fastmcpVersions, startFastMCP } from '../../../../test/servers/fastmcp.ts';
import { startNoisyServer } from '../../../../test/servers/noisy-server.ts';
import { startV1Server } from '../../../../test/servers/v1-server.ts';

/** Third-party servers, or servers made with third-party SDKs, each with a tool that asks one form. */
type Action = 'accept' | 'decline' | 'cancel';

interface Peer {
  name: string;
  era: 'modern' | 'legacy';
  call: string[];
  /** What is filled in, in the order of the form. */
  content: Record<string, string | number | boolean | string[]>;
  /** The exit code and the result's text. */
  ends: Record<Action, [code: number, words: RegExp]>;
  /** What it says is the same each time; all but its state; or nothing much. */
  repeats: 'bytes' | 'words' | 'never';
  start(): Promise<Running>;
}

type Running = { url: string; stop(): Promise<void> } | { missing: string };

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const booking: Pick<Peer, 'call' | 'content' | 'repeats'> = {
  call: ['--tool', 'book', '--args', 'city=Rome'],
  content: { nights: 3 },
  repeats: 'bytes',
};
const books = (code: number): Peer['ends'] => ({
  accept: [0, /booked Rome for 3/],
  decline: [code, /not booked: decline/],
  cancel: [code, /not booked: cancel/],
});
const ofUrl = <Server extends { config: { url: string }; stop(): Promise<void> }>(server: Server) => ({
  url: server.config.url,
  stop: () => server.stop(),
});
const fastMCP = async (version: keyof typeof fastmcpVersions): Promise<Running> => {
  const started = await startFastMCP(version, { hasEventIds: false });
  return started.kind === 'ready' ? started.server : { missing: started.why };
};

const peers: Peer[] = [
  {
    name: 'the reference server with everything',
    era: 'legacy',
    call: ['--tool', 'trigger-elicitation-request'],
    content: everythingFilled,
    ends: { accept: [0, /provided the requested/], decline: [0, /declined/], cancel: [0, /cancelled/] },
    repeats: 'bytes',
    start: startEverything,
  },
  {
    ...booking,
    name: 'the first SDK',
    era: 'legacy',
    ends: books(0),
    start: () => startV1Server({ hasEventIds: false }),
  },
  {
    ...booking,
    name: 'the first SDK with event ids',
    era: 'legacy',
    ends: books(0),
    start: () => startV1Server({ hasEventIds: true }),
  },
  {
    ...booking,
    name: 'the second SDK',
    era: 'modern',
    ends: books(1),
    start: async () => ofUrl(await startAskingServer({ era: 'both' })),
  },
  {
    ...booking,
    name: 'the second SDK, old era',
    era: 'legacy',
    ends: books(1),
    start: async () => ofUrl(await startAskingServer({ era: 'legacy' })),
  },
  {
    ...booking,
    name: `FastMCP ${fastmcpVersions.third}`,
    era: 'legacy',
    ends: books(0),
    start: () => fastMCP('third'),
  },
  {
    ...booking,
    name: `FastMCP ${fastmcpVersions.fourth}`,
    // It seals its state anew each time.
    repeats: 'words',
    era: 'modern',
    ends: books(0),
    start: () => fastMCP('fourth'),
  },
  {
    ...booking,
    name: 'a hostile server',
    era: 'modern',
    ends: books(0),
    start: async () => ofUrl(await startNoisyServer('modern')),
  },
  {
    ...booking,
    name: 'a hostile server, old era',
    era: 'legacy',
    ends: books(0),
    start: async () => ofUrl(await startNoisyServer('legacy')),
  },
  {
    name: 'the travel desk of the demo',
    era: 'modern',
    call: ['--tool', 'book_trip', '--args', 'destination=Lisbon'],
    content: {
      traveller: 'Ada Lovelace',
      email: 'ada@example.com',
      departure: inDays(30),
      pickUp: `${inDays(30)}T06:30:00Z`,
      nights: 4,
      budget: 1200,
      windowSeat: false,
      class: 'premium',
      meals: 'vegan',
      extras: ['lounge', 'train'],
      loyaltyNumber: 'AB-123456',
    },
    ends: {
      accept: [0, /T-\d+/],
      decline: [0, /not booked|decided against/i],
      cancel: [0, /without deciding/],
    },
    // Trips are numbered, and its state knows when it was made.
    repeats: 'never',
    async start() {
      const dataDir = await mkdtemp(path.join(tmpdir(), 'travel-'));
      const { url, stop } = await startTravelDesk({ port: 0, dataDir, paymentWaitMs: 100 });
      return { url, stop: () => stop().then(() => rm(dataDir, { recursive: true })) };
    },
  },
];

const folder = mkdtempSync(path.join(tmpdir(), 'interlude-peers-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => path.join(folder, name);
function write(name: string, value: unknown): string {
  writeFileSync(file(name), JSON.stringify(value));
  return file(name);
}

/** `cut`: the connection breaks in the middle; `never`: nothing comes, or nothing more. */
type Reply = (asked: Record<string, unknown>) => {
  status?: number;
  body: string;
  end?: 'cut' | 'never' | 'never begins';
};

/** A program that answers as the test has put on. */
let reply: Reply = () => ({ body: '' });
let responder: string;
const program = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    const { inputRequests } = JSON.parse(body) as { inputRequests: Record<string, unknown> };
    const { status = 200, body: text, end } = reply(inputRequests);
    if (end === 'never begins') return;
    response.writeHead(status, { 'content-type': 'application/json' });
    if (end === undefined) response.end(text);
    else response.write(text, () => end === 'cut' && response.destroy());
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  responder = `http://127.0.0.1:${(program.address() as AddressInfo).port}/answers`;
});
afterAll(() => {
  program.close();
  program.closeAllConnections();
});

const answering =
  (answer: object): Reply =>
  (asked) => ({
    body: JSON.stringify({
      inputResponses: Object.fromEntries(Object.keys(asked).map((key) => [key, answer])),
    }),
  });

/** With each source: its words on the command line, and what is typed. */
const sources: Record<string, (peer: Peer, action: Action) => { words: string[]; typed?: string[] } | null> =
  {
    '--answers': ({ content }, action) => {
      const answer = action === 'accept' ? { accept: content } : { [action]: true };
      return { words: ['--answers', write('answers.yaml', { questions: [{ message: '/./', ...answer }] })] };
    },
    '--responder'({ content }, action) {
      reply = answering(action === 'accept' ? { action, content } : { action });
      return { words: ['--responder', responder] };
    },
    '--prompt': ({ content }, action) => ({
      words: ['--prompt'],
      typed: action === 'accept' ? typedForm(content) : [action === 'decline' ? '/n' : '/c'],
    }),
    '--decline': (_, action) => (action === 'decline' ? { words: ['--decline'] } : null),
  };

/** A line for each field, and one that sends a form of several. */
function typedForm(content: Peer['content']): string[] {
  const lines = Object.values(content).map((value) =>
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value),
  );
  return lines.length > 1 ? [...lines, ''] : lines;
}

/** Control codes, and marks that turn the direction of writing. */
const rewritesTheScreen = /(?![\n\t])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/u;

/** What a program may do wrong, and what is said of it. */
const failures: [what: string, reply: Reply, said: RegExp][] = [
  ['HTTP 500', () => ({ status: 500, body: '{}' }), /answered with HTTP 500/],
  ['a redirect', () => ({ status: 302, body: '' }), /answered with HTTP 302/],
  ['no JSON', () => ({ body: 'yes' }), /did not answer with JSON/],
  ['no inputResponses', () => ({ body: '{}' }), /without inputResponses/],
  ['no answer', () => ({ body: '{"inputResponses":{}}' }), /leaves out/],
  [
    'an unknown id',
    (asked) => ({ body: JSON.stringify({ inputResponses: { ...asked, other: null } }) }),
    /"other", which was not asked/,
  ],
  [
    'a doubled id',
    (asked) => ({
      body: JSON.stringify({
        inputResponses: [...Object.keys(asked), ...Object.keys(asked)].map((id) => ({ id, value: 3 })),
      }),
    }),
    /twice/,
  ],
  ['an unknown action', answering({ action: 'completed' }), /no action, or an unknown one/],
  ['an answer that does not fit', answering({ action: 'accept', content: { surplus: 1 } }), /does not fit/],
  ['silence', () => ({ body: '', end: 'never begins' }), /did not answer within 0\.5 s/],
  ['half an answer, and no more', () => ({ body: '{"inp', end: 'never' }), /did not answer within 0\.5 s/],
  ['a connection that breaks', () => ({ body: '{"inp', end: 'cut' }), /cannot be reached/],
  ['more than anybody reads', () => ({ body: 'x'.repeat(2_000_000) }), /more than 1048576 bytes/],
  ['nothing to say', answering(null as unknown as object), /Nothing answers/],
];

/** Those that differ most from each other; the others before a release. */
const ofFull = ['the reference server with everything', 'the second SDK', 'a hostile server'];
const tried = peers.filter(({ name }) => ofFull.includes(name) === (inject('suite') === 'full'));

describe.each(tried)('$name', (peer) => {
  let url = '';
  let stop = async (): Promise<void> => undefined;
  let missing: string | undefined;
  beforeAll(async () => {
    const running = await peer.start();
    if ('missing' in running) ({ missing } = running);
    else ({ url, stop } = running);
  }, 240_000);
  afterAll(() => stop());

  const tryAt = async (address: string, words: string[], typed?: string[]): Promise<TryEnd> => {
    const end = await runTryCommand([...peer.call, '--era', peer.era, ...words, address], typed);
    expect(end.output + end.errors).not.toMatch(rewritesTheScreen);
    return end;
  };
  const accepting = () => [
    '--answers',
    write('accept.yaml', { questions: [{ message: '/./', accept: peer.content }] }),
  ];

  const endings = Object.entries(sources).flatMap(([source, use]) =>
    (['accept', 'decline', 'cancel'] as const)
      .filter((action) => use(peer, action) !== null)
      .map((action) => ({ source, use, action })),
  );
  for (const { source, use, action } of endings)
    test(`${source}: ${action}`, async ({ skip }) => {
      if (missing !== undefined) return skip(missing);
      const { words, typed } = use(peer, action) ?? { words: [] };
      const { code, output, errors } = await tryAt(url, words, typed);
      const [expected, said] = peer.ends[action];
      expect([code, output], errors).toEqual([expected, expect.stringMatching(said)]);
    });

  for (const [what, replies, said] of failures)
    test(`a program that answers with ${what}: 3`, async ({ skip }) => {
      if (missing !== undefined) return skip(missing);
      reply = replies;
      const { code, output, errors } = await tryAt(url, [
        '--responder',
        responder,
        ...(what === 'silence' || what.startsWith('half') ? ['--responder-timeout', '500ms'] : []),
      ]);
      expect([code, output], errors).toEqual([3, '']);
      expect(errors).toMatch(said);
      expect(errors).toContain('Nothing was sent after it.');
    });

  test('a program that is not there: 3', async ({ skip }) => {
    if (missing !== undefined) return skip(missing);
    const { code, output, errors } = await tryAt(url, [
      '--responder',
      `http://127.0.0.1:${await freePort()}`,
    ]);
    expect([code, output, errors]).toEqual([3, '', expect.stringContaining('cannot be reached')]);
  });

  test('recorded and replayed twenty times: the bytes are equal, and no secret is in them', async ({
    skip,
  }) => {
    if (missing !== undefined) return skip(missing);
    const secrets = ['--token', 'token-of-the-test', '--header', 'x-api-key: key-of-the-test'];
    const record = async (address: string, name: string) => {
      const { code, errors } = await tryAt(address, [...accepting(), ...secrets, '--record', file(name)]);
      expect(code, errors).toBe(0);
      return readFileSync(file(name), 'utf8');
    };
    const first = await record(url, 'first.yaml');
    for (const secret of ['token-of-the-test', 'key-of-the-test']) expect(first).not.toContain(secret);
    for (let time = 0; time < 20; time++) {
      const server = createReplayServer(await readCassetteFile(file('first.yaml')));
      const { url: served, close } = await serveOverHttp(server, 0);
      expect(await record(served, 'again.yaml')).toBe(first);
      close();
      expect([server.differences, server.missing()]).toEqual([[], []]);
    }
  });

  test('recorded at the server twenty times, and replayed there: the same', async ({ skip }) => {
    if (missing !== undefined || peer.repeats === 'never') return skip(missing ?? 'it never says the same');
    const record = async (name: string) => {
      const { code, errors } = await tryAt(url, [...accepting(), '--record', file(name)]);
      expect(code, errors).toBe(0);
      return readFileSync(file(name), 'utf8').replaceAll(
        peer.repeats === 'words' ? /requestState: .*/g : /$^/g,
        '',
      );
    };
    const first = await record('first.yaml');
    for (let time = 0; time < 20; time++) {
      expect(await record('again.yaml')).toBe(first);
      const { code, errors } = await runTryCommand(['--replay', file('first.yaml'), '--era', peer.era, url]);
      expect(code, errors).toBe(0);
    }
  });
});
