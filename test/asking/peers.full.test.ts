/**
 * Servers that nobody here wrote, or that are made with other people's SDKs, asking in a whole turn: what the user is
 * asked, what the server makes of the answer, and how often it did its work. `docs/mcp-peers.md` has the results.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { goProgram } from '../programs/built-program.ts';
import { startAskingServer } from '../servers/asking-server.ts';
import type { AskingServer } from '../servers/asking-server.ts';
import { createEventStore } from '../servers/event-store.ts';
import { everythingFilled, startEverything } from '../servers/everything-server.ts';
import type { PeerProcess } from '../servers/everything-server.ts';
import {
  fastmcpVersions,
  langchainVersions,
  pythonSdkVersions,
  startFastMCP,
  startLangChain,
  startPythonSdk,
} from '../servers/fastmcp.ts';
import type { FastMCPStart } from '../servers/fastmcp.ts';
import { goVersions, startGo, startRmcp, useOnStdio } from '../servers/built-servers.ts';
import { startV1Server } from '../servers/v1-server.ts';
import type { V1Server } from '../servers/v1-server.ts';
import { callOf, startAsking } from '../service/asking.ts';
import type { Service } from '../service/service.ts';
import type { ChatOptions } from '../service/user.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { accept, asTurn } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

const temporal = useDevelopmentServer();
let service: Service;

afterEach(() => service?.stop());

async function begin(
  url: string,
  call: [tool: string, input?: object],
  options: ChatOptions = {},
): Promise<AskedTurn> {
  service = await startAsking({ temporal, url });
  return go(call, options);
}

async function go(call: [tool: string, input?: object], options: ChatOptions = {}): Promise<AskedTurn> {
  const alice = await service.as('alice');
  return asTurn(alice, randomUUID(), (conversation) =>
    alice.chat(callOf(call), { conversation, ...options }),
  );
}

const nights = (count: number) => accept({ nights: count });
const eventIds = [
  ['with event ids', true],
  ['without event ids', false],
] as const;

describe('the reference server with everything', () => {
  let server: PeerProcess;
  beforeAll(async () => {
    server = await startEverything();
  });
  afterAll(() => server.stop());

  test('a form with a field of every kind arrives as it was filled in', async () => {
    const turn = await begin(server.url, ['trigger-elicitation-request']);
    const { requestedSchema } = await turn.question(0);
    const properties = requestedSchema['properties'] as object;
    expect(Object.keys(properties).toSorted()).toEqual(Object.keys(everythingFilled).toSorted());
    expect(
      await turn.answer(0, accept({ ...everythingFilled, integer: 101, legacyTitledEnum: 'Cats' })),
    ).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/content/integer' }, { pointer: '/content/legacyTitledEnum' }] },
    });
    expect((await turn.answer(0, accept(everythingFilled))).status).toBe(200);
    const { text } = await turn.end();
    expect(text).toContain('User provided the requested information');
    const raw = /Raw result: (\{.*\})/s.exec(text)?.[1] ?? '{}';
    expect(JSON.parse(raw)).toEqual({ action: 'accept', content: everythingFilled });
  });

  test.each(['decline', 'cancel'])('a form that ends with %s', async (action) => {
    const turn = await begin(server.url, ['trigger-elicitation-request']);
    await turn.answer(0, { action });
    expect((await turn.end()).text).toMatch(action === 'decline' ? /User declined/ : /User cancelled/);
  });

  test.each(['accept', 'decline', 'cancel'])('a link that ends with %s', async (action) => {
    const call = { url: 'https://example.com/open', message: 'Open this' };
    const turn = await begin(server.url, ['trigger-url-elicitation', call]);
    expect(await turn.question(0)).toMatchObject({ mode: 'url', ...call });
    await turn.answer(0, { action });
    const words = { accept: /completed the URL/, decline: /declined to open/, cancel: /cancelled the URL/ }[
      action
    ];
    expect((await turn.end()).text).toMatch(words ?? /never/);
  });

  test('a call that is refused until a page is done is made again when the user has been there', async () => {
    const call = { url: 'https://example.com/open', message: 'Open this', errorPath: true };
    const turn = await begin(server.url, ['trigger-url-elicitation', call]);
    const { url } = await turn.question(0);
    expect(url).not.toBe(call.url);
    await turn.answer(0, accept());
    expect(await turn.question(1)).toMatchObject({ url: call.url });
    await turn.answer(1, accept());
    expect((await turn.end()).text).toMatch(/completed the URL/);
  });

  test('a caller that can show nothing is told so, and the tools that ask nobody work', async () => {
    const turn = await begin(server.url, ['trigger-elicitation-request'], { supports: null });
    // It has this tool only for those who can be asked.
    expect(await turn.end()).toMatchObject({ error: expect.stringContaining('not found'), questions: [] });
    const echo = await go(['echo', { message: 'hello' }], { supports: null });
    expect((await echo.end()).text).toBe('Echo: hello');
  });
});

describe.each(eventIds)('a server of the first SDK, %s', (_, hasEventIds) => {
  let server: V1Server;
  afterEach(() => server.stop());
  const start = async (call: [tool: string, input?: object]) => {
    server = await startV1Server({ hasEventIds });
    return begin(server.url, call);
  };

  test('a form, once begun and once done', async () => {
    const turn = await start(['book', { city: 'Lisbon' }]);
    expect(await turn.answer(0, nights(31))).toMatchObject({ status: 422 });
    await turn.answer(0, nights(3));
    expect((await turn.end()).text).toBe('booked Lisbon for 3');
    expect([server.begun, server.done]).toEqual([['book Lisbon'], ['book Lisbon for 3']]);
  });

  test.each(['decline', 'cancel'])('a form that ends with %s is not done', async (action) => {
    const turn = await start(['book', { city: 'Lisbon' }]);
    await turn.answer(0, { action });
    expect((await turn.end()).text).toBe(`not booked: ${action}`);
    expect([server.begun, server.done]).toEqual([['book Lisbon'], []]);
  });

  test('one question after another in one call', async () => {
    const turn = await start(['tour', { cities: ['Rome', 'Oslo', 'Bonn'] }]);
    for (const n of [0, 1, 2]) await turn.answer(n, n === 1 ? { action: 'decline' } : nights(n + 1));
    expect((await turn.end()).text).toBe('Rome 1, Oslo decline, Bonn 3');
    expect([server.begun, server.done]).toEqual([['tour'], ['tour Rome 1, Oslo decline, Bonn 3']]);
  });

  test('a link, and the server goes on with the consent', async () => {
    const turn = await start(['pay']);
    expect(await turn.question(0)).toMatchObject({ mode: 'url', url: 'https://pay.example/deposit' });
    await turn.answer(0, accept());
    expect((await turn.end()).text).toBe('paid: accept');
    expect(server.done).toEqual(['pay']);
  });

  test('a server that does not wait closes its question, and a late answer is told so', async () => {
    const turn = await start(['hurry']);
    await turn.question(0);
    const { questions, error } = await turn.end();
    expect(error).toContain('timed out');
    expect(questions).toMatchObject([{ status: 'expired', because: 'server_gave_up' }]);
    expect(await turn.answer(0, nights(1))).toMatchObject({ status: 410, body: { code: 'expired' } });
    expect([server.begun, server.done]).toEqual([['hurry'], []]);
  });

  test('a refusal until a page is done', async () => {
    const turn = await start(['enter']);
    expect(await turn.question(0)).toMatchObject({ mode: 'url', url: 'https://door.example/' });
    await turn.answer(0, accept());
    expect((await turn.end()).text).toBe('entered');
    expect([server.begun, server.done]).toEqual([['enter', 'enter'], ['enter']]);
  });

  test('a refusal until a page is done, by a server that has forgotten the session meanwhile', async () => {
    const turn = await start(['enter']);
    await turn.question(0);
    server.forgetSessions();
    await turn.answer(0, accept());
    expect((await turn.end()).text).toBe('entered');
    expect([server.begun, server.done]).toEqual([['enter', 'enter'], ['enter']]);
  });

  test('a page that is declined: the tool did not run, and the model is told so', async () => {
    const turn = await start(['enter']);
    await turn.answer(0, { action: 'decline' });
    expect((await turn.end()).error).toContain('chose not to. The tool did not run');
    expect([server.begun, server.done]).toEqual([['enter'], []]);
  });
});

describe.each([
  ['in the new era', 'modern', false],
  ['in both eras', 'both', false],
  ['in the old era, with event ids', 'legacy', true],
  ['in the old era, without event ids', 'legacy', false],
] as const)('a server of the second SDK, %s', (_, era, hasEventIds) => {
  let server: AskingServer;
  afterEach(() => server.stop());

  test('a form, a wizard and a refusal, each done once', async () => {
    server = await startAskingServer({ era, ...(hasEventIds && { eventStore: createEventStore() }) });
    const book = await begin(server.config.url, ['book', { city: 'Lisbon' }]);
    await book.answer(0, nights(3));
    expect((await book.end()).text).toBe('booked Lisbon for 3');
    const wizard = await go(['wizard']);
    for (const n of [0, 1, 2]) await wizard.answer(n, nights(n + 1));
    expect((await wizard.end()).text).toBe('wizard 1,2,3,');
    const refused = await go(['book', { city: 'Oslo' }]);
    await refused.answer(0, { action: 'decline' });
    expect((await refused.end()).error).toBe('not booked: decline');
    expect(server.done).toEqual(['book Lisbon for 3', 'wizard 1,2,3,']);
  });
});

describe.each([
  ['third', 'with event ids', true],
  ['third', 'without event ids', false],
] as const)('a server of FastMCP’s %s version, %s', (version, _, hasEventIds) => {
  let start: FastMCPStart;
  beforeAll(async () => {
    start = await startFastMCP(version, { hasEventIds });
  }, 240_000);
  afterAll(() => (start.kind === 'ready' ? start.server.stop() : undefined));

  test('a form that is filled in, and one that is not', async ({ skip }) => {
    if (start.kind === 'missing') return skip(start.why);
    const { url, did } = start.server;
    const turn = await begin(url, ['book', { city: 'Lisbon' }]);
    expect(await turn.question(0)).toMatchObject({
      message: 'How many nights in Lisbon?',
      requestedSchema: { properties: { nights: { type: 'integer' } }, required: ['nights'] },
    });
    expect(await turn.answer(0, accept({ nights: 'three' }))).toMatchObject({ status: 422 });
    await turn.answer(0, nights(3));
    expect((await turn.end()).text).toBe('booked Lisbon for 3');
    for (const action of ['decline', 'cancel']) {
      const refused = await go(['book', { city: action }]);
      await refused.answer(0, { action });
      expect((await refused.end()).text).toBe(`not booked: ${action}`);
    }
    const begun = did().filter((one) => one.startsWith('begin'));
    expect(begun).toEqual(['begin Lisbon', 'begin decline', 'begin cancel']);
    expect(did().filter((one) => one.startsWith('book'))).toEqual(['book Lisbon for 3']);
  });
});

/** Offer both eras, or with sessions the old one only. In the new era they cannot push. */
describe.each([
  ['FastMCP’s fourth version', 'book_by_push', () => startFastMCP('fourth', { hasEventIds: false })],
  ['the first SDK for Python', 'book', () => startPythonSdk('first')],
  ['the second SDK for Python', 'book', () => startPythonSdk('second')],
  ['LangChain’s MCP adapters', 'book', startLangChain],
  ['Go’s SDK with sessions', 'book', () => startGo('sdk', 'sessions')],
  ['Go’s SDK with an event store', 'book', () => startGo('sdk', 'events')],
  ['Go’s SDK with sessions, in rounds', 'rounds', () => startGo('sdk', 'sessions')],
  ['Go’s SDK without sessions, in rounds', 'rounds', () => startGo('sdk', 'stateless')],
  ['mcp-go', 'book', () => startGo('mcp-go', 'sessions')],
  ['the SDK for Rust', 'book', () => startRmcp('sessions')],
] as const)('a server of %s', (_, tool, startServer) => {
  let start: FastMCPStart;
  beforeAll(async () => {
    start = await startServer();
    // The first build in Rust takes minutes.
  }, 900_000);
  afterAll(() => (start.kind === 'ready' ? start.server.stop() : undefined));

  test('asks a form, and does what was answered once', async ({ skip }) => {
    if (start.kind === 'missing') return skip(start.why);
    const turn = await begin(start.server.url, [tool, { city: 'Lisbon' }]);
    expect(await turn.question(0)).toMatchObject({ message: 'How many nights in Lisbon?' });
    expect(await turn.answer(0, accept({ nights: 'three' }))).toMatchObject({ status: 422 });
    await turn.answer(0, nights(3));
    expect((await turn.end()).text).toBe('booked Lisbon for 3');
    const refused = await go([tool, { city: 'Oslo' }]);
    await refused.answer(0, { action: 'decline' });
    expect((await refused.end()).text).toBe('not booked: decline');
    const did = start.server.did();
    expect(did).toEqual(['begin Lisbon', 'book Lisbon for 3', 'begin Oslo']);
  });
});

describe('a tool of FastMCP’s fourth version that asks in rounds', () => {
  let start: FastMCPStart;
  beforeAll(async () => {
    start = await startFastMCP('fourth', { hasEventIds: false });
  }, 240_000);
  afterAll(() => (start.kind === 'ready' ? start.server.stop() : undefined));

  test('fails once in the old era, and is called in the new one from then on', async ({ skip }) => {
    if (start.kind === 'missing') return skip(start.why);
    const first = await begin(start.server.url, ['book', { city: 'Lisbon' }]);
    expect((await first.end()).error).toContain('another call will ask');
    const turn = await go(['book', { city: 'Lisbon' }]);
    await turn.answer(0, nights(3));
    expect((await turn.end()).text).toBe('booked Lisbon for 3');
    // Sealed on its way, so this is what came back of it.
    expect(start.server.did()).toEqual(['state asked about Lisbon', 'book Lisbon for 3']);
  });
});

test.each([
  ['Go’s SDK', 'sdk', 'book'],
  ['Go’s SDK, in rounds', 'sdk', 'rounds'],
  ['mcp-go', 'mcp-go', 'book'],
])(
  'a server of %s on stdio can ask',
  async (_, library, tool) => {
    const program = await goProgram();
    if ('missing' in program) return;
    const { callTool, close } = useOnStdio(program.executable, ['server', library, 'stdio']);
    expect(await callTool(tool)).toMatchObject({
      kind: 'result',
      result: { content: [{ text: 'booked Lisbon for 3' }] },
    });
    await close();
  },
  240_000,
);

test('the results name the versions that were tried', () => {
  const page = readFileSync(new URL('../../docs/mcp-peers.md', import.meta.url), 'utf8');
  const packages = ['server-everything', 'sdk', 'server'] as const;
  const versions = { ...packageJson.dependencies, ...packageJson.devDependencies };
  for (const name of packages) {
    const peer = `@modelcontextprotocol/${name}` as const;
    expect(page).toContain(`\`${peer}\` ${versions[peer]}`);
  }
  for (const version of Object.values(fastmcpVersions)) expect(page).toContain(`\`fastmcp\` ${version}`);
  for (const version of Object.values(pythonSdkVersions)) expect(page).toContain(`\`mcp\` ${version}`);
  expect(page).toContain(`\`langchain-mcp-adapters\` ${langchainVersions.adapters}`);
  expect(page).toContain(`\`langchain-openai\` ${langchainVersions.openai}`);
  for (const [name, version] of Object.entries(goVersions))
    expect(page).toContain(`${name === 'sdk' ? '`go-sdk`' : `\`${name}\``} ${version}`);
});
