/** What a server may ask depends on what the caller can show: every request declares it, and a server that asks more is refused. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChatOptions } from '../service/user.ts';
import { asks, done, form, page } from '../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../servers/scripted-mcp-server.ts';
import { answer, answerError } from '../servers/raw-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { accept, city, useAskingService } from './asking-service.ts';

const setup = useAskingService();
const { begin } = setup;
const both = { form: form('Fill this in'), page: page('https://example.com/a') };

function declared(n: number): unknown {
  return setup.server.calls[n]?.params._meta?.['io.modelcontextprotocol/clientCapabilities'];
}

const callers: [words: string, options: ChatOptions, capabilities: object, refused: string][] = [
  ['only forms', { supports: 'form' }, { elicitation: { form: {} } }, 'page'],
  ['only links', { supports: 'url' }, { elicitation: { url: {} } }, 'form'],
];

test.each(callers)('a caller that can show %s', async (_, options, capabilities, refused) => {
  const { [refused as keyof typeof both]: wrong, ...right } = both;
  const good = await begin([asks(right)], options);
  await good.answer(0, refused === 'page' ? city() : accept());
  expect(await good.end()).toMatchObject({ text: 'done', error: undefined });
  expect([declared(0), declared(1)]).toEqual([capabilities, capabilities]);

  const bad = await begin([asks({ wrong, ...right })], options);
  const { error, questions } = await bad.end();
  expect(error).toContain(`which the user's client cannot show`);
  const asText = refused === 'page' ? '"Open this page\\nhttps://example.com/a"' : '"Fill this in\\n- ';
  expect(error).toContain(`to be put to the user in words, its question is ${asText}`);
  expect(questions).toEqual([]);
  expect(setup.server.calls).toHaveLength(1);
});

test.each([
  ['a caller that can show nothing', () => setup.alice],
  ['a service, behind which nobody sits', () => setup.service.asService()],
])('%s: the server is told, and asks nobody', async (words, by) => {
  const supports = words.includes('service') ? 'true' : null;
  for (const asked of Object.values(both)) {
    const turn = await begin([asks({ asked })], { supports, by: await by() });
    const { error, questions } = await turn.end();
    expect(error).toContain('could not be put to the user');
    expect(questions).toEqual([]);
    expect(declared(0)).toEqual({});
  }
});

test('a server that refuses because of that is passed on in words', async () => {
  const turn = await begin(
    [(message, response) => answerError(message, response, -32021, 'Missing capability', 400)],
    { supports: null },
  );
  expect((await turn.end()).error).toContain('their client cannot show');
  expect(setup.server.calls).toHaveLength(1);
});

test('what was never offered is refused: other requests, other modes, nothing at all', async () => {
  for (const [asked, reason] of [
    [{ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, 'sampling/createMessage'],
    [{ method: 'roots/list' }, 'roots/list'],
    [{ method: 'elicitation/create', params: { mode: 'dance', message: 'Dance?' } }, 'unknown way ("dance")'],
    [{ method: 'elicitation/create' }, 'malformed'],
    [null, 'no request'],
    ['city', 'no request'],
  ] as const) {
    const turn = await begin([asks({ good: form('Good'), asked })]);
    const { error, questions } = await turn.end();
    expect(error).toContain(reason);
    expect(questions).toEqual([]);
    expect(setup.server.calls).toHaveLength(1);
  }
});

test('the question names who asks and warns of what is odd about its link', async () => {
  const turn = await begin([asks({ page: page('http://alice@xn--80ak6aa92e.com/pay', 'Pay here') })]);
  const question = await turn.question(0);
  expect(question).toMatchObject({
    mode: 'url',
    message: 'Pay here',
    url: 'http://alice@xn--80ak6aa92e.com/pay',
    context: {
      trigger: 'mcp_elicitation',
      agent: 'Assistant',
      server: 'asking',
      serverTitle: 'Asking',
      host: new URL(setup.server.url).host,
      toolName: 'ask',
      toolCallId: expect.any(String),
    },
  });
  expect((question.context['warnings'] as string[]).toSorted()).toEqual([
    'plain_http',
    'punycode',
    'userinfo',
  ]);
  await turn.answer(0, { action: 'decline' });
  await turn.end();
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ page: { action: 'decline' } });
});

test('content that a link has no place for is refused, and its accept carries none', async () => {
  const turn = await begin([asks({ page: page('https://example.com/a') })]);
  expect((await turn.answer(0, city())).status).toBe(400);
  expect((await turn.answer(0, accept())).status).toBe(200);
  await turn.end();
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ page: { action: 'accept' } });
});

describe('a token that expires while turns are under way', () => {
  const words = callOf(['ask']);
  const chat = { id: randomUUID(), messages: [{ role: 'user', parts: [{ type: 'text', text: words }] }] };
  const completion = { model: 'assistant', stream: true, messages: [{ role: 'user', content: words }] };
  const key = { 'idempotency-key': randomUUID() };
  const a2a = '/run/agents/assistant/a2a';
  const a2aVersion = { 'a2a-version': '1.0' };
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: words }] };
  const mcp = '/run/v1/mcp';
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const ask = { name: 'ask_assistant', arguments: { message: words } };
  const askNow = {
    ...ask,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const asksNow = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': ask.name,
  };

  /** Sends a request, a POST if it has a body, and reads the response until it ends or is cut. */
  async function open(token: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const response = await fetch(setup.service.baseUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    const conversation = response.headers.get('x-conversation-id');
    if (conversation !== null) setup.service.begun(conversation);
    return { headers: response.headers, all: readAll(response) };
  }

  async function readAll({ body }: Response): Promise<{ text: string; isCut: boolean }> {
    let text = '';
    try {
      for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
      return { text, isCut: false };
    } catch {
      return { text, isCut: true };
    }
  }

  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const resultIn = (text: string): Record<string, unknown> => {
    const [, data = '{}'] = /^data: (\{.*"result".*)$/m.exec(text) ?? [];
    return (JSON.parse(data) as { result?: Record<string, unknown> }).result ?? {};
  };

  test('every stream that it opened ends with it, and the same turns go on with a fresh token', async () => {
    const goOn = Promise.withResolvers<void>();
    const result = done();
    const waits: ScriptedReply = (call, response) =>
      void goOn.promise.then(() => answer(call, response, result));
    setup.server.play(...Array.from({ length: 5 }, () => waits));
    const fresh = await setup.service.token('alice');
    const begun = await open(fresh, mcp, rpc('initialize', hello));
    const session = {
      'mcp-session-id': begun.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': hello.protocolVersion,
    };

    // Accepted for three seconds more at least.
    const ending = await setup.service.tokenUntil('alice', Math.floor(Date.now() / 1000) - 1);
    const opened = await Promise.all([
      open(ending, '/run/api/chat', chat),
      open(ending, '/run/v1/chat/completions', completion, key),
      open(ending, a2a, rpc('SendStreamingMessage', { message }), a2aVersion),
      open(ending, mcp, rpc('tools/call', ask), session),
      open(ending, mcp, rpc('tools/call', askNow), asksNow),
      open(ending, '/run/v1/elicitations/events'),
    ]);
    const [chatting, completing, task, call, callNow, questions] = await Promise.all(
      opened.map(({ all }) => all),
    );
    for (const cut of [chatting, task, call, questions]) expect(cut?.isCut).toBe(true);
    expect(completing).toMatchObject({
      isCut: false,
      text: expect.stringMatching(/"code":"turn_unfinished"[^\n]*\n\n$/),
    });
    const { resultType, requestState } = resultIn(callNow?.text ?? '');
    expect([callNow?.isCut, resultType]).toEqual([false, 'input_required']);

    const { id } = resultIn(task?.text ?? '')['task'] as { id: string };
    const lastId =
      call?.text
        .match(/^id: (.*)$/gm)
        ?.at(-1)
        ?.slice('id: '.length) ?? '';
    const again = await Promise.all([
      open(fresh, `/run/api/chat/${chat.id}/stream`),
      open(fresh, '/run/v1/chat/completions', completion, key),
      open(fresh, a2a, rpc('SubscribeToTask', { id }), a2aVersion),
      open(fresh, mcp, undefined, { ...session, 'last-event-id': lastId }),
      open(fresh, mcp, rpc('tools/call', { ...askNow, requestState }), asksNow),
    ]);
    goOn.resolve();
    for (const { all } of again) {
      const { text, isCut } = await all;
      expect(isCut).toBe(false);
      expect(text).toContain('done');
    }
    expect(setup.server.calls).toHaveLength(5);
  });
});
