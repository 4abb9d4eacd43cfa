/** A stock client runs our agents: text, tools, each kind of question, and what becomes of a turn that waits. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import type { AskingService, AskingServiceOptions } from '../../asking/asking-service.ts';
import { asks, done, form, page } from '../../servers/scripted-mcp-server.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { cancelled, connect } from './stock-client.ts';
import type { ClientOptions, Run, Version } from './stock-client.ts';

const tools = ['ask', 'remove'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const agentsFile = path.join(import.meta.dirname, '../../fixtures/ag-ui-agents.yaml');

/** The client of 1.0 warns of everything that it does not understand: no test may bring it to that. */
export function useAgUiService(options: AskingServiceOptions = {}): AskingService {
  const warned = vi.spyOn(console, 'warn');
  afterEach(() => {
    expect(warned.mock.calls).toEqual([]);
    warned.mockClear();
  });
  return useAskingService({ tools, env: { INTERLUDE_CONFIG: agentsFile }, ...options });
}

export const call = 'call asking__ask {}';
export const pageTools = [
  {
    name: 'set_theme',
    description: 'Changes the theme of the page.',
    parameters: { type: 'object', properties: { theme: { type: 'string' } } },
  },
  { name: 'get_size', description: 'The size of the window.' },
];
export const named = { city: { type: 'string', minLength: 2 } };
export const askCity = () => asks({ city: form('Which city?', named) });
export const askBoth = () =>
  asks({ city: form('Which city?', named), day: form('Which day?', { day: { type: 'string' } }) });

/** `transport`: what makes the requests; undefined where it is missing. */
export function testRuns(
  setup: AskingService,
  version: Version,
  transport: () => typeof fetch | undefined = () => fetch,
): void {
  const { service } = setup;
  const begin = (options: ClientOptions = {}) =>
    connect(service, { version, ...options, fetch: transport() });
  const answers = () => setup.server.calls.at(-1)?.params.inputResponses;
  describe(`the client ${version}`, () => {
    beforeEach(({ skip }) => {
      if (!transport()) skip('Its packages cannot be installed.');
    });

    test('gets an answer as a text, and goes on in its thread', async () => {
      const client = await begin();
      const first = await client.run('hello');
      expect(first.types).toEqual([
        'RUN_STARTED',
        'STEP_STARTED',
        'TEXT_MESSAGE_START',
        ...first.types.filter((type) => type === 'TEXT_MESSAGE_CONTENT'),
        'TEXT_MESSAGE_END',
        'STEP_FINISHED',
        'RUN_FINISHED',
      ]);
      expect(first.outcome).toBe('success');
      expect(first.events.at(-1)).toMatchObject({ usage: [{ totalTokens: expect.any(Number) }] });
      const second = await client.run('and again');
      expect(second.types).not.toContain('MESSAGES_SNAPSHOT');
      expect(client.texts()).toEqual(['You said: hello', 'You said: and again']);
    });

    test('sees a tool call with its arguments and its result', async () => {
      setup.server.play(done('It is sunny.'));
      const client = await begin();
      await client.run('call asking__ask {"city":"Rome"}');
      const [, asked, result] = client.agent.messages;
      expect(asked).toMatchObject({
        toolCalls: [{ function: { name: 'asking__ask', arguments: '{"city":"Rome"}' } }],
      });
      expect(result).toMatchObject({ role: 'tool', content: 'It is sunny.' });
      expect(client.texts()).toEqual(['It is sunny.']);
    });

    test('is asked for a form by an interrupt, and the next run goes on with the answer', async () => {
      setup.server.play(askCity());
      const client = await begin();
      const asked = await client.run(call);
      expect(asked.outcome).toBe('interrupt');
      const [interrupt] = asked.interrupts;
      const { toolCalls } = client.agent.messages.at(-1) as { toolCalls: { id: string }[] };
      expect(interrupt).toMatchObject({
        reason: 'mcp_elicitation',
        message: 'Which city?',
        toolCallId: toolCalls[0]?.id,
        responseSchema: { type: 'object', properties: named },
        metadata: { interlude: { mode: 'form', expiresAt: expect.any(String) } },
      });
      expect(interrupt?.expiresAt === undefined).toBe(version === '0.0.59');
      const again = await client.resolve({ city: 'L' });
      expect(again.outcome).toBe('interrupt');
      expect(again.interrupts[0]).toMatchObject({
        id: interrupt?.id,
        metadata: { interlude: { errors: expect.stringContaining('at least 2 characters') } },
      });
      const end = await client.resolve({ city: 'Lisbon' });
      expect(end.types).not.toContain('MESSAGES_SNAPSHOT');
      expect(end.types).toContain('TOOL_CALL_RESULT');
      expect([end.outcome, client.texts()]).toEqual(['success', ['done']]);
      expect(answers()).toEqual({ city: { action: 'accept', content: { city: 'Lisbon' } } });
    });

    test('answers several questions in one run', async () => {
      setup.server.play(askBoth());
      const client = await begin();
      const { interrupts } = await client.run(call);
      expect(interrupts).toHaveLength(2);
      const payloads: Record<string, object> = {
        'Which city?': { city: 'Lisbon' },
        'Which day?': { action: 'decline' },
      };
      const resume = interrupts.map(({ id, message = '' }) => {
        return { interruptId: id, status: 'resolved' as const, payload: payloads[message] };
      });
      expect((await client.run(undefined, { resume })).outcome).toBe('success');
      expect(answers()).toEqual({
        city: { action: 'accept', content: { city: 'Lisbon' } },
        day: { action: 'decline' },
      });
    });

    test('closes a question without an answer', async () => {
      setup.server.play(askCity());
      const client = await begin();
      const { interrupts } = await client.run(call);
      expect((await client.run(undefined, { resume: cancelled(interrupts) })).outcome).toBe('success');
      expect(answers()).toEqual({ city: { action: 'cancel' } });
    });

    test.each([
      ['once', { approved: true }, 1, 1, 'removed'],
      ['for the conversation', { approved: true, remember: 'conversation' }, 1, 0, 'removed'],
      ['always', { approved: true, remember: 'always' }, 1, 0, 'removed'],
      ['not, with a reason', { approved: false, reason: 'too early' }, 0, 1, 'too early'],
    ])('approves a call %s', async (_how, payload, sent, askedAgain, words) => {
      setup.server.play(done('removed'));
      const client = await begin();
      const asked = await client.run('call asking__remove {"issue":7}');
      expect(asked.interrupts[0]).toMatchObject({
        reason: 'approval',
        responseSchema: { required: ['approved'] },
        metadata: { interlude: { context: { arguments: JSON.stringify({ issue: 7 }, null, 2) } } },
      });
      expect((await client.resolve(payload)).outcome).toBe('success');
      expect(setup.server.calls).toHaveLength(sent);
      const result = client.agent.messages.findLast(({ role }) => role === 'tool');
      expect(result?.content).toContain(words);
      const next = await client.run('call asking__remove {"issue":8}');
      expect(next.interrupts).toHaveLength(askedAgain);
      if (askedAgain > 0) await client.run(undefined, { resume: cancelled(next.interrupts) });
      const { body } = await setup.alice.request('GET', '/run/v1/approvals');
      for (const { id } of (body as { items: { id: string }[] }).items)
        await setup.alice.request('DELETE', `/run/v1/approvals/${id}`);
    });

    test('is asked by the model itself', async () => {
      const client = await begin({ agent: 'browser' });
      const asked = {
        message: 'Which city?',
        schema: { type: 'object', properties: { city: { type: 'string' } } },
      };
      const { interrupts } = await client.run(`call ask_user ${JSON.stringify(asked)}`);
      expect(interrupts).toMatchObject([{ reason: 'model_question', message: 'Which city?' }]);
      expect((await client.resolve({ city: 'Rome' })).outcome).toBe('success');
      expect(client.texts()).toEqual(['{"city":"Rome"}']);
    });

    test('declines a question', async () => {
      setup.server.play(askCity());
      const client = await begin();
      await client.run(call);
      expect((await client.resolve({ action: 'decline' })).outcome).toBe('success');
      expect(answers()).toEqual({ city: { action: 'decline' } });
    });

    test('whose question has expired goes on when it cancels it', async () => {
      setup.server.play(askCity());
      const client = await begin();
      const { interrupts } = await client.run(call);
      const ids = interrupts.map(({ id }) => id);
      await service.storage.elicitations.settle(ids, { type: 'expired-by-operator' });
      await refused(client.resolve({ city: 'Lisbon' }), 'The deadline has passed.');
      const end = await client.run(undefined, { resume: cancelled(interrupts) });
      expect(end.outcome).toBe('success');
      expect(end.events).toContainEqual(
        expect.objectContaining({
          name: 'interlude/question',
          value: { interruptId: ids[0], status: 'expired' },
        }),
      );
    });

    test('of another user neither reads the thread nor answers its questions', async () => {
      setup.server.play(askCity());
      const client = await begin();
      const { interrupts } = await client.run(call);
      const stranger = await begin({ user: 'bob', threadId: client.threadId });
      await refused(stranger.run(), 'You have no conversation with this id.');
      const resume = interrupts.map(({ id }) => {
        return { interruptId: id, status: 'resolved' as const, payload: { city: 'Rome' } };
      });
      await refused(stranger.run(undefined, { resume }), 'You have no conversation with this id.');
      expect((await client.resolve({ city: 'Lisbon' })).outcome).toBe('success');
      expect(answers()).toEqual({ city: { action: 'accept', content: { city: 'Lisbon' } } });
    });

    test('opens a link: the run waits until its page is done', async () => {
      setup.server.play(asks({ there: page('https://example.com/a') }));
      const client = await begin();
      const { interrupts } = await client.run(call);
      expect(interrupts[0]?.responseSchema).toBeUndefined();
      expect(interrupts[0]).toMatchObject({ metadata: { interlude: { url: 'https://example.com/a' } } });
      expect((await client.resolve()).outcome).toBe('success');
      expect(answers()).toEqual({ there: { action: 'accept' } });
    });

    test('connects an account: the run goes on by itself once it is connected', async () => {
      const client = await begin();
      const { interrupts } = await client.run('list my open issues');
      const { url } = (interrupts[0]?.metadata?.['interlude'] ?? {}) as { url: string };
      expect(interrupts[0]).toMatchObject({ reason: 'credential_required' });
      const going = client.resolve();
      await connectAccount('alice', url);
      expect((await going).outcome).toBe('success');
      expect(client.texts().at(-1)).toContain('Checkout');
      await setup.alice.request('DELETE', '/run/v1/connections/tracker');
    });

    test('sees a delegate as a subagent, and its question with it', async () => {
      setup.server.play(askCity());
      const client = await begin({ agent: 'lead' });
      const asked = await client.run(`ask the assistant to ${call}`);
      const [interrupt] = asked.interrupts;
      const started = asked.events.find(({ type }) => type === 'SUBAGENT_STARTED');
      expect(started).toMatchObject({ name: 'assistant', subagentRunId: interrupt?.subagentRunId });
      expect(asked.events.find(({ type }) => type === 'SUBAGENT_FINISHED')).toMatchObject({
        outcome: { type: 'suspended', interruptIds: [interrupt?.id] },
      });
      const end = await client.resolve({ city: 'Lisbon' });
      expect(end.types).not.toContain('MESSAGES_SNAPSHOT');
      expect(end.outcome).toBe('success');
      expect(client.texts().at(-1)).toBe('I was told: done');
    });

    test('runs the tools that it brought, and the next run brings their results', async () => {
      setup.server.play(done('sunny'));
      const client = await begin({ agent: 'browser' });
      const run = await client.run('call set_theme {"theme":"dark"}\ncall asking__ask {}\ncall get_size {}', {
        tools: pageTools,
      });
      expect(run.outcome).toBe('success');
      const calls = client.agent.messages.flatMap((message) =>
        message.role === 'assistant' ? (message.toolCalls ?? []) : [],
      );
      expect(calls.map(({ function: called }) => called)).toEqual([
        { name: 'set_theme', arguments: '{"theme":"dark"}' },
        { name: 'asking__ask', arguments: '{}' },
        { name: 'get_size', arguments: '{}' },
      ]);
      const pending = version !== '0.0.59' ? { pendingToolCallIds: [calls[0]?.id, calls[2]?.id] } : {};
      expect(run.events.at(-1)).toMatchObject({ outcome: { type: 'success', ...pending } });
      client.runTools({ set_theme: 'It is dark.', get_size: '12 × 9' });
      const end = await client.run(undefined, { tools: pageTools });
      expect([end.outcome, client.texts()]).toEqual(['success', ['It is dark.\nsunny\n12 × 9']]);
      expect(end.types).not.toContain('TOOL_CALL_RESULT');
      expect((await client.run('hello', { tools: pageTools })).types).not.toContain('MESSAGES_SNAPSHOT');
    });

    test('whose stream is cut runs the thread again, and has everything once', async () => {
      const client = await begin();
      const cut = await client.run('a rather long answer', { cutAt: 'TEXT_MESSAGE_CONTENT' });
      expect(cut.types).not.toContain('RUN_FINISHED');
      expect((await client.run()).outcome).toBe('success');
      expect(client.texts()).toEqual(['You said: a rather long answer']);
    });

    test('who says something else instead of an answer begins a new turn; the question is closed', async () => {
      setup.server.play(askCity());
      const client = await begin();
      const { interrupts } = await client.run(call);
      client.agent.addMessage({ id: randomUUID(), role: 'user', content: 'hello' });
      const next = await client.run(undefined, { resume: cancelled(interrupts) });
      expect(next.outcome).toBe('success');
      expect(client.texts()).toEqual(['You said: hello']);
      const [question] = await service.storage.elicitations.ofConversation({
        tenant: 'demo',
        conversation: client.threadId,
      });
      expect(question).toMatchObject({ id: interrupts[0]?.id, status: 'cancel' });
      expect(setup.server.calls).toHaveLength(1);
    });

    test('whose turn is cancelled elsewhere does not read that it succeeded', async () => {
      setup.server.play(askCity());
      const client = await begin();
      const { interrupts } = await client.run(call);
      await setup.alice.cancel(client.threadId);
      await expect
        .poll(async () => (await setup.alice.cancel(client.threadId)).body)
        .toMatchObject({ status: 'idle' });
      const late = await client.run(undefined, { resume: cancelled(interrupts) });
      expect(late.outcome).toBe(version !== '0.0.59' ? 'cancelled' : 'RUN_ERROR');
    });
  });
}

/** The client rejects with the problem, and prints it. */
export async function refused(run: Promise<Run>, words: string): Promise<void> {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  await expect(run).rejects.toMatchObject({ payload: expect.stringContaining(words) });
  printed.mockRestore();
}
