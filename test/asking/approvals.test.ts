/** Calls that a person approves before they are sent: what is shown is what goes out, or nothing does. */
import { afterEach, expect, test, vi } from 'vitest';
import { randomUUID } from 'node:crypto';
import { ask, consumers, questionsIn, textIn } from '../../packages/client/test/ai-sdk/consumers.ts';
import { optionsFor } from '../../packages/client/test/ai-sdk/service-options.ts';
import { createChatClient, versions } from '../clients/chat-client.ts';
import type { Decision, OnElicitation } from '@interlude-ai/client/answer-questions.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { accept, city, useAskingService } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

/** A change in the database between the approval and the call. */
let tampered: { input?: unknown; row?: object; answer?: object | null } = {};
afterEach(() => void (tampered = {}));

const logger = createLogger({ level: 'silent', human: false });
const logged = vi.spyOn(logger, 'error');
const lines = vi.spyOn(logger, 'info');
const setup = useAskingService({
  env: { ASKING_APPROVAL: 'destructive', ELICITATION_MAX_OPEN: '3' },
  annotations: { destructiveHint: true },
  around,
  logger: Object.assign(logger, { child: () => logger }),
});
const { begin } = setup;

function around(storage: Storage): Storage {
  const { toolCalls, elicitations } = storage;
  return {
    ...storage,
    toolCalls: {
      ...toolCalls,
      async take(...given) {
        const row = await toolCalls.take(...given);
        return row && 'input' in tampered ? { ...row, input: tampered.input } : row;
      },
    },
    elicitations: {
      ...elicitations,
      async get(id) {
        const row = await elicitations.get(id);
        return row && tampered.row && row.status !== 'pending' ? { ...row, ...tampered.row } : row;
      },
      async recorded(...given) {
        const answer = await elicitations.recorded(...given);
        if (tampered.answer === undefined || !answer) return answer;
        return tampered.answer === null ? null : { ...answer, ...tampered.answer };
      },
    },
  };
}

const input = { issue: 7, title: 'Old page', tags: ['a', 'b'] };

test('the question shows who wants to call what with which arguments, and exactly they are sent', async () => {
  const turn = await begin([], { input });
  const question = await turn.question(0);
  expect(question).toMatchObject({
    mode: 'form',
    message: 'Assistant wants to ask in Asking. Approve this?',
    requestedSchema: { type: 'object', properties: {} },
    context: {
      trigger: 'approval',
      agent: 'Assistant',
      server: 'asking',
      serverTitle: 'Asking',
      host: new URL(setup.server.url).host,
      toolName: 'ask',
      toolCallId: expect.any(String),
      arguments: JSON.stringify(input, null, 2),
    },
  });
  expect(lines.mock.calls.map(([, words]) => words)).toContainEqual(
    expect.stringMatching(/^turn \w{8} waits: \w+ is asked to approve ask of asking$/),
  );
  expect(setup.server.calls).toEqual([]);
  expect((await turn.answer(0, accept())).body).toMatchObject({ status: 'accept', duplicate: false });
  expect((await turn.answer(0, accept({}))).body).toMatchObject({ status: 'accept', duplicate: true });
  expect((await turn.answer(0, accept())).body).toMatchObject({ status: 'accept', duplicate: true });
  expect((await turn.answer(0, { action: 'decline' })).status).toBe(409);
  expect(await turn.end()).toMatchObject({ text: 'done', error: undefined });
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([input]);
  expect(logged).not.toHaveBeenCalled();
});

test.each([
  [{ action: 'decline' }, 'approve this call of asking__ask and refused. Nothing was sent to Asking.'],
  [
    { action: 'decline', reason: ' Still "needed". ' },
    'refused. Their reason: "Still \\"needed\\"." Nothing was sent to Asking. Respect that',
  ],
  [{ action: 'cancel' }, 'dismissed the question without deciding. Nothing was sent to Asking.'],
])('%j reaches the model in words, and nothing is sent', async (response, words) => {
  const turn = await begin([], { input });
  await turn.answer(0, response);
  expect((await turn.end()).error).toContain(words);
  expect(setup.server.calls).toEqual([]);
});

test('who cannot be asked has not said yes', async () => {
  const silent: [string, Parameters<typeof begin>[1]][] = [
    ['client they use cannot show the request', { supports: null }],
    ['client they use cannot show the request', { supports: 'url' }],
    ['the caller is a service', { by: await setup.service.asService() }],
  ];
  for (const [words, options] of silent) {
    const { error, questions } = await (await begin([], { input, ...options })).end();
    expect(error).toContain(words);
    expect(questions).toEqual([]);
    expect(setup.server.calls).toEqual([]);
  }
});

test('only whom it was put to approves it, and an answer says nothing that makes no sense', async () => {
  const turn = await begin([], { input });
  const { elicitationId } = await turn.question(0);
  const bob = await setup.service.as('bob');
  const foreign = { conversationId: turn.conversation, elicitationId, action: 'accept' };
  expect((await bob.answer(foreign)).status).toBe(403);
  for (const [response, pointer] of [
    [{ action: 'accept', reason: 'why not' }, '/reason'],
    [{ action: 'decline', remember: 'always' }, '/remember'],
    [{ action: 'accept', remember: 'for ever' }, '/remember'],
    [{ action: 'decline', reason: 'x'.repeat(1001) }, '/reason'],
    [{ action: 'accept', content: { approved: true } }, '/content'],
  ] as const) {
    const { status, body } = await turn.answer(0, response);
    expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ pointer })]]);
  }
  expect(setup.server.calls).toEqual([]);
  await turn.answer(0, { action: 'decline' });
  await turn.end();
});

test.each([
  ['other arguments', { input: { issue: 8 } }, 'shown arguments'],
  ['the order of a list', { input: { ...input, tags: ['b', 'a'] } }, 'shown arguments'],
  ['another question', { row: { turnId: 'another' } }, 'question'],
  ['a question of somebody else', { row: { user: 'bob' } }, 'question'],
  ['an answer that was no yes', { answer: { action: 'decline' } }, 'answer'],
  ['an answer that nobody gave', { answer: null }, 'answer'],
])('approved, and then there is %s: refused and logged', async (_, change, mismatch) => {
  logged.mockClear();
  const turn = await begin([], { input });
  await turn.question(0);
  tampered = change;
  await turn.answer(0, accept());
  expect((await turn.end()).error).toContain('what was about to be sent is not what they approved');
  expect(setup.server.calls).toEqual([]);
  expect(logged).toHaveBeenCalledWith(
    expect.objectContaining({ mismatch, server: 'asking', toolName: 'ask' }),
    'a call is not what its user approved, and was not sent',
  );
});

test('arguments that are changed together with what was shown are refused by their digest', async () => {
  logged.mockClear();
  const turn = await begin([], { input });
  const { context, ...request } = await turn.question(0);
  const other = { issue: 8 };
  tampered = {
    input: other,
    row: { request: { ...request, context: { ...context, arguments: JSON.stringify(other, null, 2) } } },
  };
  await turn.answer(0, accept());
  expect((await turn.end()).error).toContain('what was about to be sent is not what they approved');
  expect(setup.server.calls).toEqual([]);
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ mismatch: 'arguments' }), expect.any(String));
});

test('two calls of one step are approved one by one', async () => {
  const turn = await begin([], { text: callOf(['ask', { n: 1 }], ['ask', { n: 2 }]) });
  await turn.question(1);
  const asked = [await turn.question(0), await turn.question(1)];
  const which = (n: number) =>
    asked.findIndex(({ context }) => String(context['arguments']).includes(`${n}`));
  await turn.answer(which(2), accept());
  await turn.answer(which(1), { action: 'decline' });
  await turn.end();
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([{ n: 2 }]);
});

test('one too many is not asked, and the others are answered as if it had never been', async () => {
  const numbers = [1, 2, 3, 4];
  const turn = await begin([], {
    text: callOf(...numbers.map((n): [string, object] => ['ask', { n }])),
  });
  const errors = () => turn.stream.chunks.filter(({ type }) => type === 'tool-output-error');
  await turn.question(2);
  await turn.stream.until(() => errors().length === 1);
  expect(errors()[0]).toMatchObject({ errorText: expect.stringContaining('too many open questions') });
  await turn.answer(0, { action: 'decline' });
  await turn.answer(1, { action: 'cancel' });
  await turn.answer(2, accept());
  await turn.end();
  expect(errors()).toHaveLength(3);
  const { context } = await turn.question(2);
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([
    JSON.parse(String(context['arguments'])),
  ]);
});

test.each([
  ['a new message', (turn: AskedTurn) => begin([], { text: 'hello', conversation: turn.conversation })],
  ['the end of its turn', (turn: AskedTurn) => setup.alice.cancel(turn.conversation)],
])('%s takes the question away, and nothing is sent', async (_, interrupt) => {
  const turn = await begin([], { input });
  await turn.question(0);
  await interrupt(turn);
  await turn.end();
  expect(turn.statuses()).toEqual(['cancel']);
  expect((await turn.answer(0, accept())).status).toBe(410);
  expect(setup.server.calls).toEqual([]);
});

test('a call that was approved may ask its own form, which is not an approval', async () => {
  const turn = await begin([asks({ sure: form('Approve this?', {}) }, 's1')], { input });
  await turn.answer(0, accept());
  const own = await turn.question(1);
  expect(own.context).toMatchObject({ trigger: 'mcp_elicitation', server: 'asking' });
  expect((await turn.answer(1, { action: 'accept', remember: 'always' })).status).toBe(400);
  expect((await turn.answer(1, { action: 'decline', reason: 'no' })).status).toBe(400);
  await turn.answer(1, accept({}));
  expect(await turn.end()).toMatchObject({ text: 'done' });
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([input, input]);
});

test('an agent that works for another one asks the same person, who sees on whose behalf', async () => {
  const turn = await begin([], {
    agentId: 'lead',
    text: 'ask the assistant to call asking__ask {"for":"lead"}',
  });
  expect(await turn.question(0)).toMatchObject({
    context: { trigger: 'approval', agent: 'Assistant', path: ['assistant'] },
  });
  await turn.answer(0, accept());
  expect((await turn.end()).text).toBe('I was told: done');
});

test('what is approved for a conversation is not asked again in it, and is elsewhere', async () => {
  const first = await begin([], { input });
  await first.answer(0, { action: 'accept', remember: 'conversation' });
  await first.end();
  const { conversation } = first;
  const again = await begin([], { input: { issue: 9 }, conversation });
  expect(await again.end()).toMatchObject({ text: 'done', questions: [] });
  const elsewhere = await begin([], { input });
  await elsewhere.answer(0, { action: 'decline' });
  await elsewhere.end();
});

test('what is approved in advance is the tool as its server described it: with other words or arguments it is asked about', async () => {
  const first = await begin([], { input });
  const { elicitationId } = await first.question(0);
  await first.answer(0, { action: 'accept', remember: 'always' });
  await first.end();
  const { toolCatalogue } = setup.service.storage;
  const key = { tenant: 'demo', server: 'asking', user: null };
  const listed = await toolCatalogue.get(key);
  if (!listed) throw new Error('the tool was called, so it is listed');
  const { tools, audience, freshMs } = listed;
  const list = (change: object) =>
    toolCatalogue.put(key, { audience, freshMs, tools: tools.map((tool) => ({ ...tool, ...change })) });
  for (const change of [
    { description: 'Deletes everything.' },
    { inputSchema: { type: 'object', properties: { all: { type: 'boolean' } } } },
    { annotations: { destructiveHint: true, openWorldHint: true } },
  ]) {
    await list(change);
    const turn = await begin([], { input });
    expect(await turn.question(0)).toMatchObject({ context: { trigger: 'approval' } });
    await turn.answer(0, { action: 'decline' });
    await turn.end();
  }
  await list({});
  expect(await (await begin([], { input })).end()).toMatchObject({ text: 'done', questions: [] });
  await setup.alice.request('DELETE', `/run/v1/approvals/${elicitationId}`);

  const changedMeanwhile = await begin([], { input });
  const asked = await changedMeanwhile.question(0);
  await list({ description: 'Deletes everything.' });
  await changedMeanwhile.answer(0, { action: 'accept', remember: 'always' });
  await changedMeanwhile.end();
  const after = await begin([], { input });
  expect(await after.question(0)).toMatchObject({ context: { trigger: 'approval' } });
  await after.answer(0, { action: 'decline' });
  await after.end();
  await list({});
  await setup.alice.request('DELETE', `/run/v1/approvals/${asked.elicitationId}`);
});

test('what is approved once and for all is listed, counts everywhere, and can be withdrawn', async () => {
  const first = await begin([], { input });
  const { elicitationId } = await first.question(0);
  await first.answer(0, { action: 'accept', remember: 'always' });
  await first.end();
  const list = async (by = setup.alice) => (await by.request('GET', '/run/v1/approvals')).body['items'];
  const here = new URL(setup.server.url).host;
  const approval = {
    id: elicitationId,
    server: 'asking',
    serverTitle: 'Asking',
    host: here,
    tool: 'ask',
    conversationId: null,
  };
  expect(await list()).toContainEqual({ ...approval, approvedAt: expect.any(String) });
  const bob = await setup.service.as('bob');
  expect(await list(bob)).toEqual([]);
  expect(await list(await setup.service.asService())).toEqual([]);
  // No question is needed, so it does not matter that none could be shown.
  const elsewhere = await begin([], { input: { issue: 9 }, supports: null });
  expect(await elsewhere.end()).toMatchObject({ text: 'done', questions: [] });

  const address = `/run/v1/approvals/${elicitationId}`;
  expect((await bob.request('DELETE', address)).body['code']).toBe('approval_not_found');
  expect(await setup.alice.request('DELETE', address)).toMatchObject({ status: 200, body: approval });
  expect((await setup.alice.request('DELETE', address)).status).toBe(404);
  expect(await setup.service.storage.audit.ofElicitation(elicitationId)).toContainEqual(
    expect.objectContaining({ action: 'withdrawn', actor: 'alice', detail: 'asking: ask' }),
  );
  const asked = await begin([], { input });
  await asked.answer(0, { action: 'decline' });
  await asked.end();
});

test('a server’s question has its answer as before', async () => {
  const turn = await begin([asks({ one: form('One') }, 's1')], { input });
  await turn.answer(0, accept());
  await turn.answer(1, city('Rome'));
  expect((await turn.end()).text).toBe('done');
});

test('a client that knows the SDK’s own requests for approval gets them, and answers as the SDK does', async () => {
  const known = { headers: { 'x-supports-tool-approval': 'true' } };
  const requests = ({ stream }: Awaited<ReturnType<typeof begin>>) =>
    stream.chunks.filter(({ type }) => type === 'tool-approval-request');
  const respond = (turn: Awaited<ReturnType<typeof begin>>, approval: object) =>
    setup.alice.request('POST', '/run/api/chat', {
      id: turn.conversation,
      messages: [
        {
          role: 'assistant',
          parts: [
            { type: 'text', text: 'I would.' },
            { type: 'dynamic-tool', toolCallId: 'c', state: 'approval-responded', approval },
          ],
        },
      ],
    });

  const approved = await begin([], { input, ...known });
  const { elicitationId: id, context } = await approved.question(0);
  expect(requests(approved)).toEqual([
    { type: 'tool-approval-request', approvalId: id, toolCallId: context['toolCallId'] },
  ]);
  expect(await respond(approved, { id, approved: true })).toMatchObject({
    status: 200,
    body: { elicitationId: id, status: 'accept' },
  });
  expect(await approved.end()).toMatchObject({ text: 'done' });
  expect(requests(approved)).toHaveLength(1);

  const refused = await begin([], { input, ...known });
  const { elicitationId } = await refused.question(0);
  expect((await respond(refused, { id: elicitationId, approved: 'yes' })).status).toBe(400);
  await respond(refused, { id: elicitationId, approved: false, reason: 'Not today.' });
  expect((await refused.end()).error).toContain('Their reason: "Not today."');

  const unknown = await begin([], { input });
  await unknown.question(0);
  expect(requests(unknown)).toEqual([]);
  await unknown.answer(0, { action: 'decline' });
  await unknown.end();
});

test('an OpenAI client is asked in a chunk of its own, and answers over HTTP', async () => {
  setup.server.play();
  const response = await fetch(`${setup.service.baseUrl}/run/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await setup.service.token('alice')}`,
      'content-type': 'application/json',
      'x-supports-elicitation': 'form',
    },
    body: JSON.stringify({
      model: 'assistant',
      stream: true,
      messages: [{ role: 'user', content: callOf(['ask', input]) }],
    }),
  });
  const conversationId = response.headers.get('x-conversation-id') ?? '';
  let text = '';
  let isAnswered = false;
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString('utf8');
    const [, elicitationId] = /"elicitationId":"([^"]+)"/.exec(text) ?? [];
    if (elicitationId === undefined || isAnswered || !text.endsWith('\n\n')) continue;
    isAnswered = true;
    expect(text).toContain('"trigger":"approval"');
    expect(text).toContain(JSON.stringify(JSON.stringify(input, null, 2)));
    const answer = { conversationId, elicitationId, action: 'accept' };
    expect((await setup.alice.answer(answer)).status).toBe(200);
  }
  expect(isAnswered).toBe(true);
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([input]);
});

test.each(consumers.filter(({ version }) => version === 7))(
  'AI SDK $version hands it to the handler, whose decision counts',
  async (consumer) => {
    const options = await optionsFor(setup.service);
    const decisions: Decision[] = [{ action: 'decline', reason: 'Not today.' }, { action: 'accept' }];
    for (const decision of decisions) {
      setup.server.play();
      const shown: unknown[] = [];
      const onElicitation: OnElicitation = ({ context }) => {
        shown.push([context.trigger, context['arguments']]);
        return decision;
      };
      const { finished } = ask(consumer, { ...options, onElicitation }, callOf(['ask', input]));
      expect(questionsIn(await finished).map(({ status }) => status)).toEqual(['pending', decision.action]);
      expect(shown).toEqual([['approval', JSON.stringify(input, null, 2)]]);
      expect(textIn(await finished)).toContain(decision.reason ?? 'done');
      const sent = setup.server.calls.map(({ params }) => params.arguments);
      expect(sent).toEqual(decision.action === 'accept' ? [input] : []);
    }
  },
);

test.each(versions)('`useChat` of version %i is asked, and goes on once it is approved', async (version) => {
  setup.server.play();
  const conversation = randomUUID();
  setup.service.begun(conversation);
  const chat = createChatClient(version, {
    baseUrl: setup.service.baseUrl,
    token: await setup.service.token('alice'),
    conversation,
    headers: {
      'x-supports-elicitation': 'true',
      ...(version > 5 && { 'x-supports-tool-approval': 'true' }),
    },
  });
  const over = chat.send(callOf(['ask', input]));
  const isAsked = (part: object) => JSON.stringify(part).includes('"status":"pending"');
  await chat.until(isAsked);
  const wanted = version > 5 ? 'approval-requested' : 'input-available';
  await chat.until((part) => part.type === 'dynamic-tool' && String(part.state) === wanted);
  const question = chat.parts().find(({ type }) => type === 'data-elicitation-request');
  const { elicitationId } = (question as unknown as { data: { elicitationId: string } }).data;
  const answer = { conversationId: conversation, elicitationId, action: 'accept' };
  expect((await setup.alice.answer(answer)).status).toBe(200);
  await over;
  expect(chat.error).toBeUndefined();
  expect(chat.parts()).toContainEqual(expect.objectContaining({ type: 'text', text: 'done' }));
  expect(chat.parts()).toContainEqual(
    expect.objectContaining({ type: 'dynamic-tool', state: 'output-available' }),
  );
  expect(setup.server.calls.map(({ params }) => params.arguments)).toEqual([input]);
});
