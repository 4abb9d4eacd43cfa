/** Approvals in an editor: its permission requests, which are kept apart from questions. */
import { expect, test } from 'vitest';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { callOf } from '../../../../test/service/asking.ts';
import type { PlayedEditor } from './editor.ts';
import { openEditor } from './open-editor.ts';
import type { Opening } from './open-editor.ts';

const setup = useAskingService({
  env: { ASKING_APPROVAL: 'destructive' },
  annotations: { destructiveHint: true },
});
const callAsk = callOf(['ask', { page: 'Travel policy ```2019```' }]);
const end = { stopReason: 'end_turn' };

async function begin(options: Opening = {}): Promise<{ editor: PlayedEditor; id: string }> {
  setup.server.play();
  const editor = await openEditor(setup.service, options);
  return { editor, id: await editor.newSession() };
}

const remembered = async () =>
  (await setup.alice.request('GET', '/run/v1/approvals')).body['items'] as { id: string }[];

test('it shows all that will be sent, and is no question', async () => {
  const { editor, id } = await begin({ capabilities: {}, permit: () => 'allow-once' });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(setup.server.calls).toHaveLength(1);
  expect(editor.elicitations).toEqual([]);
  expect(editor.permissions).toMatchObject([
    {
      sessionId: id,
      toolCall: {
        toolCallId: 'call_1',
        title: expect.stringContaining('Approve this?'),
        kind: 'execute',
        content: [
          { content: { text: expect.stringMatching(/^````json\n[^]*Travel policy ```2019```[^]*\n````$/) } },
        ],
      },
      options: [
        { optionId: 'allow-once', kind: 'allow_once' },
        { optionId: 'allow-conversation', kind: 'allow_always' },
        { optionId: 'allow-always', kind: 'allow_always' },
        { optionId: 'reject', kind: 'reject_once' },
      ],
    },
  ]);
  await editor.prompt(id, callAsk);
  expect(editor.permissions).toHaveLength(2);
  editor.close();
});

test('allowed in this conversation, further calls of it ask nobody, and another conversation does', async () => {
  const { editor, id } = await begin({ permit: () => 'allow-conversation' });
  await editor.prompt(id, callAsk);
  await editor.prompt(id, callAsk);
  expect(editor.permissions).toHaveLength(1);
  await editor.prompt(await editor.newSession(), callAsk);
  expect(editor.permissions).toHaveLength(2);
  expect(setup.server.calls).toHaveLength(3);
  editor.close();
});

test('always allowed, no conversation asks until that is withdrawn', async () => {
  const { editor, id } = await begin({ permit: () => 'allow-always' });
  await editor.prompt(id, callAsk);
  await editor.prompt(await editor.newSession(), callAsk);
  expect(editor.permissions).toHaveLength(1);
  for (const { id: approval } of await remembered())
    await setup.alice.request('DELETE', `/run/v1/approvals/${approval}`);
  await editor.prompt(await editor.newSession(), callAsk);
  expect(editor.permissions).toHaveLength(2);
  for (const { id: approval } of await remembered())
    await setup.alice.request('DELETE', `/run/v1/approvals/${approval}`);
  editor.close();
});

test.each([
  ['rejected', () => 'reject'],
  ['closed', () => undefined as unknown as string],
])('%s, nothing is sent, and the turn goes on', async (_, permit) => {
  const { editor, id } = await begin({ permit });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(setup.server.calls).toEqual([]);
  const updates = editor.updates.map(({ update }) => update);
  expect(updates).toContainEqual(expect.objectContaining({ toolCallId: 'call_1', status: 'failed' }));
  editor.close();
});

test.each([
  ['an option that was not offered', () => 'allow-everything'],
  [
    'an error',
    () => {
      throw new Error('no dialog');
    },
  ],
])('%s allows nothing, and is asked again', async (_, permit) => {
  const { editor, id } = await begin({ permit });
  expect(await editor.prompt(id, callAsk)).toEqual(end);
  expect(setup.server.calls).toEqual([]);
  expect(editor.said(id)).toContain('/auth/answer?e=');
  editor.person = { permit: () => 'allow-once' };
  await editor.prompt(id, 'again');
  expect(setup.server.calls).toHaveLength(1);
  editor.close();
});

test('a cancelled prompt takes the request away, and nothing is sent', async () => {
  const { editor, id } = await begin({
    permit: (_, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('allow-once'))),
  });
  const prompted = editor.prompt(id, callAsk);
  await editor.until(() => editor.permissions.length === 1);
  await editor.cancel(id);
  expect(await prompted).toEqual({ stopReason: 'cancelled' });
  expect([editor.withdrawn, setup.server.calls.length]).toEqual([1, 0]);
  editor.close();
});
