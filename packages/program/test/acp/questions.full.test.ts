/** Every end of every kind of question in an editor: what it is asked, what the tool gets, how the prompt ends. */
import { RequestError } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { asks, form, page } from '../../../../test/servers/scripted-mcp-server.ts';
import { callOf } from '../../../../test/service/asking.ts';
import type { PlayedEditor } from './editor.ts';
import { openEditor } from './open-editor.ts';
import type { Opening } from './open-editor.ts';

const setup = useAskingService();
const callAsk = callOf(['ask']);
const end = { stopReason: 'end_turn' };
const accepted = (content: object) => ({ action: 'accept', content });

async function begin(options: Opening = {}): Promise<{ editor: PlayedEditor; id: string }> {
  const editor = await openEditor(setup.service, options);
  return { editor, id: await editor.newSession() };
}

/** What the server was answered, call by call. */
const answers = () =>
  setup.server.calls.map(({ params }) => params.inputResponses).filter((one) => one !== undefined);

test.each([
  ['accept', accepted({ city: 'Lisbon' }), accepted({ city: 'Lisbon' })],
  ['decline', { action: 'decline', content: { city: 'Lisbon' } }, { action: 'decline' }],
  ['cancel', { action: 'cancel' }, { action: 'cancel' }],
])('a form that ends with %s', async (_, reply, answer) => {
  setup.server.play(asks({ city: form('Which city?') }));
  const { editor, id } = await begin({ answer: () => reply });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(answers()).toMatchObject([{ city: answer }]);
  expect(editor.completed).toEqual([]);
  editor.close();
});

test('content that does not fit is asked for again with the reason, whatever the client has sent', async () => {
  const size = {
    size: { type: 'integer', minimum: 1, maximum: 9 },
    kind: { type: 'string', enum: ['a', 'b'] },
  };
  setup.server.play(asks({ size: form('Which size?', size, { required: ['size', 'kind'] }) }));
  const replies = [
    { action: 'accept' },
    { action: 'accept', content: null },
    accepted({ size: { nested: 1 }, kind: 'a' }),
    accepted({ size: 12, kind: 'c', more: true }),
    accepted({ size: 4, kind: 'b' }),
  ];
  const { editor, id } = await begin({ answer: () => replies.shift() });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(answers()).toMatchObject([{ size: accepted({ size: 4, kind: 'b' }) }]);
  const messages = editor.elicitations.map(({ message }) => message);
  expect(messages).toHaveLength(5);
  expect(messages[0]).not.toContain('again');
  for (const message of messages.slice(1, 3)) expect(message).toContain('size: is required');
  expect(messages[3]).toContain('size: must be a whole number');
  expect(messages[4]).toContain('size: must be at most 9');
  expect(messages[4]).toContain('more: is not a field of this form');
  editor.close();
});

test('a program that goes on sending what does not fit is not asked for ever, and the question stays open', async () => {
  setup.server.play(asks({ size: form('Which size?', { size: { type: 'integer' } }) }));
  const { editor, id } = await begin({ answer: () => accepted({ size: 'large' }) });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(editor.elicitations).toHaveLength(6);
  expect(editor.said(id)).toContain('/auth/answer?e=');
  expect(answers()).toEqual([]);
  editor.close();
});

const failures: [string, () => unknown][] = [
  [
    '-32601',
    () => {
      throw RequestError.methodNotFound('elicitation/create');
    },
  ],
  [
    '-32602',
    () => {
      throw RequestError.invalidParams();
    },
  ],
  [
    '-32603',
    () => {
      throw new Error('The dialog broke.');
    },
  ],
  [
    '-32800',
    () => {
      throw RequestError.requestCancelled();
    },
  ],
  ['an unknown action', () => ({ action: 'later' })],
  ['nothing that is an answer', () => ({ nope: 1 })],
];

test.each(failures)(
  '%s is no answer: the question stays open, and the next prompt asks again',
  async (_, fail) => {
    setup.server.play(asks({ city: form('Which city?') }));
    const { editor, id } = await begin({ answer: fail });
    expect(await editor.prompt(id, callAsk)).toEqual(end);
    const [question] = await openQuestions(id);
    expect(question).toMatchObject({ status: 'pending', message: expect.stringContaining('Which city?') });
    expect(editor.said(id)).toContain(`/auth/answer?e=${String(question?.['elicitationId'])}`);
    expect(answers()).toEqual([]);
    editor.person = { answer: () => accepted({ city: 'Lisbon' }) };
    expect(await editor.prompt(id, 'go on')).toEqual(end);
    expect(answers()).toMatchObject([{ city: accepted({ city: 'Lisbon' }) }]);
    // The message that asked again is answered, too.
    expect(editor.said(id)).toMatch(/doneYou said: go on$/);
    editor.close();
  },
);

test('a question that is answered elsewhere is taken from the editor, and the prompt goes on', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const { editor, id } = await begin({ answer: never });
  const prompted = editor.prompt(id, callAsk);
  await editor.until(() => editor.elicitations.length === 1);
  const [question] = await openQuestions(id);
  await answerElsewhere(id, question, accepted({ city: 'Porto' }));
  expect(await prompted).toEqual(end);
  expect(editor.withdrawn).toBe(1);
  expect(answers()).toMatchObject([{ city: accepted({ city: 'Porto' }) }]);
  editor.close();
});

test('questions of one call are asked side by side, and those of its rounds one after another', async () => {
  setup.server.play(
    asks({ city: form('Which city?'), day: form('Which day?') }),
    asks({ sure: form('Sure?') }),
  );
  const { editor, id } = await begin({
    async answer({ message }) {
      if (!message.includes('Sure?')) await editor.until(() => editor.elicitations.length === 2);
      return accepted({ city: message.slice(-5) });
    },
  });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(answers()).toMatchObject([
    { city: accepted({ city: 'city?' }), day: accepted({ city: ' day?' }) },
    { sure: accepted({ city: 'Sure?' }) },
  ]);
  editor.close();
});

test('a link: accept is consent, the page makes it go on, and only who was asked hears that it is done', async () => {
  setup.server.play(asks({ page: page('https://desk.example/pay') }));
  const { editor, id } = await begin({ answer: () => ({ action: 'accept' }) });
  const other = await openEditor(setup.service);
  const prompted = editor.prompt(id, callAsk);
  await editor.until(() => editor.elicitations.length === 1);
  const [asked] = editor.elicitations;
  expect(asked).toMatchObject({ mode: 'url', sessionId: id, toolCallId: 'call_1' });
  expect(await prompted).toEqual(end);
  await editor.until(() => editor.completed.length === 1);
  expect(editor.completed).toEqual([asked && 'elicitationId' in asked ? asked.elicitationId : '']);
  expect(other.completed).toEqual([]);
  editor.close();
  other.close();
});

test.each(['decline', 'cancel'])('a link that ends with %s', async (action) => {
  setup.server.play(asks({ page: page('https://desk.example/pay') }));
  const { editor, id } = await begin({ answer: () => ({ action }) });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(answers()).toMatchObject([{ page: { action } }]);
  expect(editor.completed).toEqual([]);
  editor.close();
});

test('an editor that cannot open links is never sent one, and hears where to go', async () => {
  setup.server.play(asks({ page: page('https://desk.example/pay') }));
  const { editor, id } = await begin({
    capabilities: { elicitation: { form: {} } },
    answer: () => ({ action: 'accept' }),
  });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(editor.elicitations).toEqual([]);
  expect(await openQuestions(id)).toEqual([]);
  editor.close();
});

test.each([[{}], [{ elicitation: {} }], [{ elicitation: { form: null, url: null } }]])(
  'an editor that declares %j is asked nothing',
  async (capabilities) => {
    setup.server.play(asks({ city: form('Which city?') }));
    const { editor, id } = await begin({ capabilities });
    expect(await editor.prompt(id, callAsk)).toEqual(end);
    expect(editor.said(id)).toContain('Which city?');
    expect(await editor.prompt(id, 'Lisbon')).toEqual(end);
    expect(answers()).toMatchObject([{ city: accepted({ city: 'Lisbon' }) }]);
    expect([editor.elicitations, editor.permissions]).toEqual([[], []]);
    editor.close();
  },
);

test('without forms, a form that has all it needs goes on with its defaults, unless it asks for a yes', async () => {
  const capabilities = {};
  const size = { size: { type: 'integer', default: 4 }, note: { type: 'string' } };
  setup.server.play(asks({ size: form('Which size?', size, { required: ['size'] }) }));
  const { editor, id } = await begin({ capabilities });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(editor.said(id)).toContain('these values were taken');
  expect(answers()).toMatchObject([{ size: accepted({ size: 4 }) }]);
  setup.server.play(asks({ sure: form('Delete it?', { sure: { type: 'boolean', default: true } }) }));
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(answers()).toEqual([]);
  expect(await editor.prompt(id, 'no')).toEqual(end);
  expect(answers()).toMatchObject([{ sure: accepted({ sure: false }) }]);
  editor.close();
});

test('a dialog that closes because the editor leaves has decided nothing', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const { editor, id } = await begin({
    answer() {
      setImmediate(() => editor.close());
      return { action: 'cancel' };
    },
  });
  await expect(editor.prompt(id, callAsk)).rejects.toThrow(/closed/i);
  expect(await openQuestions(id)).toMatchObject([{ status: 'pending' }]);
});

const never = (_: unknown, signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve({ action: 'cancel' })));

async function openQuestions(conversation: string): Promise<Record<string, unknown>[]> {
  const path = `/run/v1/conversations/${conversation}/elicitations?status=pending`;
  return (await setup.alice.request('GET', path)).body['items'] as Record<string, unknown>[];
}

async function answerElsewhere(
  conversationId: string,
  question: Record<string, unknown> | undefined,
  answer: object,
) {
  const elicitationId = question?.['elicitationId'];
  await setup.alice.request('POST', '/run/api/elicitation-responses', {
    conversationId,
    elicitationId,
    ...answer,
  });
}
