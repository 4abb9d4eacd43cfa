/**
 * What the ACP TCK asks of an agent on stdio, as tests of ours: by the ids of its requirements, on the wire, with every
 * message held against the protocol's schema.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { asks, form } from '../../../../test/servers/scripted-mcp-server.ts';
import { callOf } from '../../../../test/service/asking.ts';
import { startProgram } from './program.ts';
import type { Line, Program } from './program.ts';

const setup = useAskingService();
const folder = { cwd: '/project', mcpServers: [] };
const schemaFile = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(readFileSync(schemaFile, 'utf8')) as object, 'acp');

let program: Program;
let hello: Line;
const methods = new Map<unknown, string>();

beforeAll(async () => {
  program = startProgram(['--service', setup.service.baseUrl, '--agent', 'assistant'], {
    INTERLUDE_TOKEN: await setup.service.token('alice'),
  });
  hello = await program.ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
});
afterAll(() => program.child.kill());

const words = (sessionId: unknown, text: string) => ({ sessionId, prompt: [{ type: 'text', text }] });

async function ask(method: string, params?: object, id?: string) {
  const answer = await program.ask(method, params, id);
  methods.set(answer.id, method);
  return answer;
}

async function newSession(): Promise<string> {
  const { result } = await ask('session/new', folder);
  const id = String(result?.['sessionId']);
  setup.service.begun(id);
  return id;
}

test('INIT-001, -002, -004, AUTH-001, -002: what it is and what it can do', () => {
  expect(hello.result).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'interlude', version: expect.stringMatching(/^\d/) },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { embeddedContext: true, image: false, audio: false },
      sessionCapabilities: { list: {}, resume: {}, close: {} },
    },
    authMethods: [],
  });
  expect(valid('InitializeResponse', hello.result)).toBeNull();
});

test('INIT-003: a version that nobody knows is answered with ours', async () => {
  const other = startProgram(['--service', setup.service.baseUrl], { INTERLUDE_TOKEN: 'none' });
  const info = { name: 'test', version: '1' };
  const { result } = await other.ask('initialize', { protocolVersion: 65_535, info, capabilities: {} });
  expect(result).toMatchObject({ protocolVersion: 1 });
  expect(await other.end()).toBe(0);
});

test('SESSION-001, -002, CONFIG-001, -003, MODES-001: sessions are told apart, and say whom they talk to', async () => {
  const [one, two] = [await ask('session/new', folder), await ask('session/new', folder)];
  expect(valid('NewSessionResponse', one.result)).toBeNull();
  expect(one.result?.['sessionId']).not.toBe(two.result?.['sessionId']);
  expect((await ask('session/new', { ...folder, cwd: 'work' })).error).toMatchObject({ code: -32602 });
});

test('PROMPT-001, -002, -003, META-001, SCHEMA-001: a prompt with words, a link and metadata', async () => {
  const sessionId = await newSession();
  const link = { type: 'resource_link', name: 'a', uri: 'file:///a' };
  const prompt = [{ type: 'text', text: 'hello ' }, link];
  const _meta = { traceparent: '00-0-0-00' };
  const answer = await ask('session/prompt', { sessionId, prompt, _meta });
  expect(answer.result).toEqual({ stopReason: 'end_turn' });
  const updates = program.lines.filter(({ params }) => params?.['sessionId'] === sessionId);
  expect(updates.length).toBeGreaterThan(0);
  for (const { params } of updates) expect(valid('SessionNotification', params)).toBeNull();
});

test('CANCEL-001, -002: a cancelled prompt is no error, and nothing is told after it', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const sessionId = await newSession();
  const other = startProgram(['--service', setup.service.baseUrl], {
    INTERLUDE_TOKEN: await setup.service.token('alice'),
  });
  await other.ask('initialize', { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } });
  await other.ask('session/load', { sessionId, ...folder });
  const own = String((await other.ask('session/new', folder)).result?.['sessionId']);
  setup.service.begun(own);
  const prompted = other.ask('session/prompt', words(own, callOf(['ask'])));
  const asked = await other.until(({ method }) => method === 'elicitation/create');
  expect(valid('CreateElicitationRequest', asked.params)).toBeNull();
  other.write(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: own } }));
  await other.until(
    ({ method, params }) => method === '$/cancel_request' && params?.['requestId'] === asked.id,
  );
  expect((await prompted).result).toEqual({ stopReason: 'cancelled' });
  const last = other.lines.length;
  expect(await other.end()).toBe(0);
  expect(other.lines.slice(last)).toEqual([]);
});

test('$/cancel_request for the prompt itself cancels it, too', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const sessionId = await newSession();
  const prompted = ask('session/prompt', words(sessionId, callOf(['ask'])), 'the-prompt');
  await program.until(
    ({ params }) =>
      (params?.['update'] as { toolCallId?: string })?.toolCallId === 'call_1' &&
      params?.['sessionId'] === sessionId,
  );
  program.write(
    JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 'the-prompt' } }),
  );
  const { result } = await prompted;
  // Without a dialog the question is put in words, which may be the end of the prompt first.
  expect(['cancelled', 'end_turn']).toContain(result?.['stopReason']);
});

test('LOAD-001 to -003, RESUME-001, -002: what was said is told before the answer, or not at all', async () => {
  const sessionId = await newSession();
  await ask('session/prompt', words(sessionId, 'hello'));
  const from = program.lines.length;
  const loaded = await ask('session/load', { sessionId, ...folder });
  expect(valid('LoadSessionResponse', loaded.result)).toBeNull();
  const told = program.lines.slice(from);
  expect(told.at(-1)).toBe(loaded);
  expect(told.slice(0, -1).map(({ params }) => params?.['update'] as object | undefined)).toMatchObject([
    { sessionUpdate: 'user_message_chunk' },
    { sessionUpdate: 'agent_message_chunk' },
  ]);
  const resumedFrom = program.lines.length;
  const resumed = await ask('session/resume', { sessionId, cwd: '/project' });
  expect(valid('ResumeSessionResponse', resumed.result)).toBeNull();
  expect(program.lines.slice(resumedFrom)).toEqual([resumed]);
});

test('LIST-001, -002, CLOSE-001, CONFIG-002, MODES-002: the rest of what it says it can do', async () => {
  const sessionId = await newSession();
  const listed = await ask('session/list', {});
  expect(valid('ListSessionsResponse', listed.result)).toBeNull();
  expect((await ask('session/list', { cwd: '/nobody/is/here' })).result).toEqual({ sessions: [] });
  const chosen = await ask('session/set_config_option', { sessionId, configId: 'agent', value: 'lead' });
  expect(valid('SetSessionConfigOptionResponse', chosen.result)).toBeNull();
  expect(chosen.result?.['configOptions']).toMatchObject([{ id: 'agent', currentValue: 'lead' }]);
  expect((await ask('session/set_mode', { sessionId, modeId: 'assistant' })).result).toEqual({});
  expect((await ask('session/close', { sessionId })).result).toEqual({});
  expect((await ask('session/prompt', words(sessionId, 'hello'))).error).toMatchObject({ code: -32002 });
});

test('CLIENTCAP-001 to -003: a client that can do nothing is asked for nothing', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const sessionId = await newSession();
  expect((await ask('session/prompt', words(sessionId, callOf(['ask'])))).result).toEqual({
    stopReason: 'end_turn',
  });
  expect((await ask('session/prompt', words(sessionId, 'Lisbon'))).result).toEqual({
    stopReason: 'end_turn',
  });
  const calls = program.lines.filter(({ id, method }) => id !== undefined && method !== undefined);
  expect(calls).toEqual([]);
});

test('JSONRPC-001 to -005, EXT-001, ERROR-001: rubbish is answered as such, and does no harm', async () => {
  expect(await ask('no/such/method', {}, 'a string')).toMatchObject({
    id: 'a string',
    error: { code: -32601 },
  });
  expect((await ask('_interlude.example/custom')).error?.code).toBe(-32601);
  expect((await ask('session/prompt', { sessionId: 5 })).error).toMatchObject({ code: -32602 });
  const from = program.lines.length;
  for (const rubbish of [
    '{"jsonrpc":"2.0","method":"no/such/notification"}',
    '{',
    '[]',
    '[1]',
    '"text"',
    '{"foo":"bar"}',
    '',
  ])
    program.write(rubbish);
  const after = await ask('session/list', {});
  expect(after.result).toBeDefined();
  const answers = program.lines.slice(from, -1);
  for (const answer of answers)
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: expect.any(Number) } });
  const messages = program.lines.flatMap(({ error }) => (error ? [error.message] : []));
  for (const message of messages) expect(message).toMatch(/^[^\n]+$/);
});

test('TRANSPORT-001, -002, JSONRPC-002, SHUTDOWN-001: nothing but messages on stdout, and it ends with its input', async () => {
  expect(await program.end()).toBe(0);
  expect(program.lines.length).toBeGreaterThan(20);
  for (const line of program.lines) {
    expect(line.jsonrpc).toBe('2.0');
    const kinds = [line.method !== undefined, 'result' in line, 'error' in line];
    expect(kinds.filter(Boolean), JSON.stringify(line)).toHaveLength(1);
  }
  expect(program.errors()).toBe('');
});

const checks = new Map<string, ValidateFunction>();

/** Null, or what is wrong with it. */
function valid(name: string, value: unknown): string | null {
  const check = checks.get(name) ?? ajv.compile({ $ref: `acp#/$defs/${name}` });
  checks.set(name, check);
  return check(value) ? null : ajv.errorsText(check.errors);
}
