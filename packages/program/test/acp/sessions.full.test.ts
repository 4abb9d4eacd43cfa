/** Sessions of editors: replayed history, reconnects in the middle of a question, several at once, and their owners. */
import { randomUUID } from 'node:crypto';
import { methods } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { asks, form } from '../../../../test/servers/scripted-mcp-server.ts';
import { startTcpProxy } from '../../../../test/servers/tcp-proxy.ts';
import { callOf } from '../../../../test/service/asking.ts';
import type { PlayedEditor } from './editor.ts';
import { openEditor } from './open-editor.ts';
import type { Opening } from './open-editor.ts';

const setup = useAskingService();
const { session } = methods.agent;
const callAsk = callOf(['ask']);
const end = { stopReason: 'end_turn' };
const lisbon = { action: 'accept', content: { city: 'Lisbon' } };
const asking = asks({ city: form('Which city?') });
const open = (options: Opening = {}) => openEditor(setup.service, options);
const load = (editor: PlayedEditor, sessionId: string) =>
  editor.agent.request(session.load, { sessionId, cwd: '/project', mcpServers: [] });
const resume = (editor: PlayedEditor, sessionId: string) =>
  editor.agent.request(session.resume, { sessionId, cwd: '/project' });
const told = (editor: PlayedEditor) => editor.updates.map(({ update }) => update);

test('a session is loaded with all that was said, and goes on', async () => {
  setup.server.play(asking);
  const first = await open({ answer: () => lisbon });
  const id = await first.newSession();
  await first.prompt(id, callAsk);
  await first.prompt(id, 'hello');
  first.close();
  const editor = await open();
  const loaded = await load(editor, id);
  expect(loaded.configOptions).toMatchObject([{ id: 'agent', currentValue: 'assistant' }]);
  expect(told(editor)).toMatchObject([
    { sessionUpdate: 'user_message_chunk', content: { text: callAsk } },
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'call_1',
      status: 'completed',
      content: [{ content: { text: 'done' } }],
    },
    { sessionUpdate: 'agent_message_chunk', content: { text: 'done' } },
    { sessionUpdate: 'user_message_chunk', content: { text: 'hello' } },
    { sessionUpdate: 'agent_message_chunk', content: { text: 'You said: hello' } },
  ]);
  expect(await editor.prompt(id, 'again')).toEqual(end);
  expect(editor.said(id)).toMatch(/You said: again$/);
  editor.close();
});

test('sessions are listed by the words that they began with, in any connection', async () => {
  const first = await open();
  const ids = [await first.newSession(), await first.newSession()];
  for (const [index, id] of ids.entries()) {
    await first.prompt(id, `title   ${index}\nof it`);
    await first.prompt(id, 'and more');
  }
  const titlesIn = async ({ agent }: PlayedEditor) => {
    const { sessions } = await agent.request(session.list, {});
    return ids.map((id) => sessions.find(({ sessionId }) => sessionId === id)?.title);
  };
  expect(await titlesIn(first)).toEqual(['title 0 of it', 'title 1 of it']);
  first.close();
  const second = await open();
  expect(await titlesIn(second)).toEqual(['title 0 of it', 'title 1 of it']);
  second.close();
});

test('a session is resumed without what was said', async () => {
  const first = await open();
  const id = await first.newSession();
  await first.prompt(id, 'hello');
  first.close();
  const editor = await open();
  await resume(editor, id);
  expect(await editor.prompt(id, 'again')).toEqual(end);
  expect(editor.said(id)).toBe('You said: again');
  editor.close();
});

test.each([
  ['load', load, { said: 'You said: hellodone', calls: 1 }],
  ['resume', resume, { said: 'done', calls: 0 }],
])(
  'an editor that was lost in the middle of a question is asked again after session/%s',
  async (_, again, known) => {
    setup.server.play(asking);
    const first = await open({ answer: () => new Promise(() => undefined) });
    const id = await first.newSession();
    await first.prompt(id, 'hello');
    first.prompt(id, callAsk).catch(() => undefined);
    await first.until(() => first.elicitations.length === 1);
    first.close();
    const editor = await open({ answer: () => lisbon });
    await again(editor, id);
    await editor.until(() => editor.said(id).endsWith('done'));
    expect(editor.elicitations).toMatchObject([{ toolCallId: 'call_1' }]);
    expect(setup.server.calls[1]?.params.inputResponses).toMatchObject({ city: lisbon });
    // What came before is replayed once, or not at all.
    const calls = told(editor).filter(({ sessionUpdate }) => sessionUpdate === 'tool_call');
    expect({ said: editor.said(id), calls: calls.length }).toEqual(known);
    editor.close();
  },
);

test('a client that closes dialogs outside of prompts is asked again in the next one', async () => {
  setup.server.play(asking);
  const first = await open({ answer: () => new Promise(() => undefined) });
  const id = await first.newSession();
  first.prompt(id, callAsk).catch(() => undefined);
  await first.until(() => first.elicitations.length === 1);
  first.close();
  const editor = await open({ answer: () => ({ action: 'cancel' }) });
  await load(editor, id);
  await editor.until(() => editor.elicitations.length === 1);
  editor.person = { answer: () => lisbon };
  expect(await editor.prompt(id, 'go on')).toEqual(end);
  expect(editor.elicitations).toHaveLength(2);
  expect(setup.server.calls[1]?.params.inputResponses).toMatchObject({ city: lisbon });
  expect(editor.said(id)).toMatch(/done[^]*You said: go on$/);
  editor.close();
});

test('two sessions at once: each is told its own, and one that is cancelled leaves the other alone', async () => {
  setup.server.play(asking, asking);
  const editor = await open({
    answer: ({ message }, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ action: 'cancel' }));
        release = () => resolve(lisbon);
        expect(message).toContain('Which city?');
      }),
  });
  let release = () => {};
  const [one, two] = [await editor.newSession(), await editor.newSession()];
  const first = editor.prompt(one, callAsk);
  await editor.until(() => editor.elicitations.length === 1);
  const second = editor.prompt(two, callAsk);
  await editor.until(() => editor.elicitations.length === 2);
  await editor.cancel(one);
  expect(await first).toEqual({ stopReason: 'cancelled' });
  release();
  expect(await second).toEqual(end);
  expect([editor.said(one), editor.said(two)]).toEqual(['', 'done']);
  editor.close();
});

test('a second prompt in a busy session is refused, and the first goes on', async () => {
  setup.server.play(asking);
  let release = () => {};
  const editor = await open({ answer: () => new Promise((resolve) => (release = () => resolve(lisbon))) });
  const id = await editor.newSession();
  const first = editor.prompt(id, callAsk);
  await editor.until(() => editor.elicitations.length === 1);
  await expect(editor.prompt(id, 'and now?')).rejects.toMatchObject({ code: -32600 });
  release();
  expect(await first).toEqual(end);
  editor.close();
});

test('a lost connection to the service is told, and the prompt goes on after it', async () => {
  setup.server.play(asking);
  const proxy = await startTcpProxy({ to: Number(new URL(setup.service.baseUrl).port) });
  let release = () => {};
  const editor = await open({
    at: `http://127.0.0.1:${proxy.port}`,
    answer: () => new Promise((resolve) => (release = () => resolve(lisbon))),
  });
  const id = await editor.newSession();
  const prompted = editor.prompt(id, callAsk);
  await editor.until(() => editor.elicitations.length === 1);
  proxy.cut();
  const thoughts = () =>
    told(editor).flatMap((update) =>
      update.sessionUpdate === 'agent_thought_chunk' ? [update.content] : [],
    );
  await editor.until(() => thoughts().length === 2);
  expect(thoughts()).toMatchObject([
    { text: expect.stringContaining('does not answer') },
    { text: expect.stringContaining('answers again') },
  ]);
  release();
  expect(await prompted).toEqual(end);
  expect([editor.elicitations.length, editor.said(id)]).toEqual([1, 'done']);
  editor.close();
  await proxy.stop();
});

test('whose a session is, the token says: to anybody else it is not there, and neither is one that nobody began', async () => {
  const alice = await open();
  const id = await alice.newSession();
  await alice.prompt(id, 'hello');
  const bob = await open({ as: 'bob' });
  for (const unknown of [id, randomUUID()])
    for (const again of [load, resume])
      await expect(again(bob, unknown)).rejects.toMatchObject({ code: -32002, data: { sessionId: unknown } });
  await expect(bob.prompt(id, 'hello')).rejects.toMatchObject({ code: -32002 });
  const { sessions } = await bob.agent.request(session.list, {});
  expect(sessions.map(({ sessionId }) => sessionId)).not.toContain(id);
  const listed = await alice.agent.request(session.list, { cwd: '/project' });
  expect(listed.sessions).toMatchObject([{ sessionId: id, cwd: '/project', title: 'hello' }]);
  expect((await alice.agent.request(session.list, { cwd: '/nowhere' })).sessions).toEqual([]);
  alice.close();
  bob.close();
});

test('a session that is closed ends its prompt, and is not there any more', async () => {
  setup.server.play(asking);
  const editor = await open({ answer: () => new Promise(() => undefined) });
  const id = await editor.newSession();
  const prompted = editor.prompt(id, callAsk);
  await editor.until(() => editor.elicitations.length === 1);
  await editor.agent.request(session.close, { sessionId: id });
  expect(await prompted).toEqual({ stopReason: 'cancelled' });
  await expect(editor.prompt(id, 'hello')).rejects.toMatchObject({ code: -32002 });
  editor.close();
});

test('the agent is chosen until the conversation begins', async () => {
  const editor = await open();
  const created = await editor.agent.request(session.new, { cwd: '/project', mcpServers: [] });
  const { sessionId } = created;
  setup.service.begun(sessionId);
  expect(created.modes).toMatchObject({
    currentModeId: 'assistant',
    availableModes: [{ id: 'assistant' }, { id: 'lead' }],
  });
  const chosen = await editor.agent.request(session.setConfigOption, {
    sessionId,
    configId: 'agent',
    value: 'lead',
  });
  expect(chosen.configOptions).toMatchObject([{ currentValue: 'lead' }]);
  await expect(
    editor.agent.request(session.setConfigOption, { sessionId, configId: 'agent', value: 'nobody' }),
  ).rejects.toMatchObject({ code: -32602 });
  expect(await editor.prompt(sessionId, 'hello')).toEqual(end);
  await expect(
    editor.agent.request(session.setMode, { sessionId, modeId: 'assistant' }),
  ).rejects.toMatchObject({ code: -32602 });
  const { body } = await setup.alice.request('GET', `/run/v1/conversations/${sessionId}`);
  expect(body['agent']).toBe('lead');
  editor.close();
});

test('calls of a delegated agent are told under an id of their own, which its questions name', async () => {
  setup.server.play(asking);
  const editor = await open({ answer: () => lisbon });
  const { sessionId } = await editor.agent.request(session.new, { cwd: '/project', mcpServers: [] });
  setup.service.begun(sessionId);
  await editor.agent.request(session.setMode, { sessionId, modeId: 'lead' });
  expect(await editor.prompt(sessionId, `ask the assistant to ${callAsk}`)).toEqual(end);
  const calls = told(editor).flatMap((update) => (update.sessionUpdate === 'tool_call' ? [update] : []));
  expect(calls).toMatchObject([
    { toolCallId: 'call_1', kind: 'think' },
    { toolCallId: expect.stringMatching(/^call_1\/call_/), title: 'assistant › Asking · ask' },
  ]);
  expect(editor.elicitations).toMatchObject([{ toolCallId: expect.stringMatching(/^call_1\/call_/) }]);
  editor.close();
});

test('what a prompt may hold: links and texts go along, and what the agent cannot read is refused', async () => {
  const editor = await open();
  const sessionId = await editor.newSession();
  const prompt = (...blocks: object[]) =>
    editor.agent.request(session.prompt, { sessionId, prompt: blocks as never });
  const text = { type: 'text', text: 'See ' };
  await prompt(text, { type: 'resource_link', name: 'plan.md', uri: 'file:///project/plan.md' });
  expect(editor.said(sessionId)).toBe('You said: See [plan.md](file:///project/plan.md)');
  expect(await prompt(text, { type: 'resource', resource: { uri: 'file:///a.md', text: 'words' } })).toEqual(
    end,
  );
  for (const refused of [
    [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }],
    [{ type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AAAA' } }],
    [],
  ])
    await expect(prompt(...refused)).rejects.toMatchObject({ code: -32602 });
  editor.close();
});
