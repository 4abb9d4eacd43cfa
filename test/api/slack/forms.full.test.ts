/** Forms in windows that were settled meanwhile, are sent twice, or cannot be filled in there; and what is kept of them. */
import { expect, test } from 'vitest';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { inputsOf } from '../../servers/slack/entered.ts';
import { slackDeliveryWorkflowId, turnWorkflowId } from '../../../src/workflows/messages.ts';
import {
  answerForTrip,
  asksForCity,
  said,
  untilSaid,
  untilTaken,
  useAskingInSlack,
} from './asking-in-slack.ts';

const setup = await useAskingInSlack();
const { begin, opened, press, openWindow, submit, whispered, chat, server } = setup;

test('what was typed is in no history and no message, also where it did not fit', async () => {
  const asked = await begin(asksForCity());
  const window = await opened(asked);
  await submit(window, { City: 'ZZ' });
  expect(Object.values(window.errors)).toEqual(['It must match ^[A-Z][a-z]+$.']);
  await submit(window, { City: 'Zanzibar' });
  await asked.end();
  expect(answerForTrip(server)).toMatchObject({ content: { city: 'Zanzibar' } });
  const [first] = await setup.logOf(asked.ts);
  const { tenant = '', conversation = '' } =
    (await setup.service.storage.slack.threads.get({
      team: 'T1',
      channel: 'C1',
      threadTs: asked.ts,
      slackUser: 'U1',
    })) ?? {};
  const turnId = first?.turnId ?? '';
  for (const id of [slackDeliveryWorkflowId(turnId), turnWorkflowId({ tenant, conversation, turnId })]) {
    const history = await setup.temporal.client.workflow.getHandle(id).fetchHistory();
    expect(history.events?.length).toBeGreaterThan(3);
    const bytes = JSON.stringify(history, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    expect(bytes).not.toMatch(/Zanzibar|"ZZ"/);
  }
  expect(JSON.stringify(setup.slack.calls)).not.toContain('Zanzibar');
});

test('two windows and a second press: one answer counts, the same again closes, another is told what counts', async () => {
  const asked = await begin(asksForCity());
  const first = await opened(asked);
  const second = await opened(asked);
  await Promise.all([submit(first, { City: 'Lisbon' }), submit(first, { City: 'Lisbon' })]);
  await untilTaken(first);
  await submit(second, { City: 'Porto' });
  await untilSaid(second, 'This question is settled already. Answered.');
  expect(inputsOf(second.view)).toEqual([]);
  await asked.end();
  expect(answerForTrip(server)).toMatchObject({ content: { city: 'Lisbon' } });
  expect(server.calls).toHaveLength(2);
});

test('a question that was settled elsewhere while its window is open says so in it, and below its button', async () => {
  const asked = await begin(asksForCity());
  const window = await opened(asked);
  const { message } = await asked.question();
  await press({ by: 'U1', button: 'Not now', message });
  await asked.end();
  await submit(window, { City: 'Lisbon' });
  await untilSaid(window, 'This question is settled already. Declined.');
  const late = await openWindow({ by: 'U1', button: 'Answer', message });
  expect(said(late)).toContain('This question is settled already. Declined.');
  // Slack opens nothing any more.
  await press({ by: 'U1', button: 'Answer', message, isLate: true });
  await expect.poll(() => whispered('U1').at(-1)).toBe('This question is settled already. Declined.');
});

test('a new message takes the place of a turn that waits, and its window says so', async () => {
  const asked = await begin([...asksForCity(), ...asksForCity('And which one now?')]);
  const window = await opened(asked);
  await setup.write({
    by: 'U1',
    threadTs: asked.ts,
    text: 'call asking__ask {}',
    type: 'message',
  });
  const { message } = await asked.question(1);
  expect(message.text).toContain('And which one now?');
  await submit(window, { City: 'Lisbon' });
  await untilSaid(window, 'This question is settled already. Dismissed.');
  const next = await openWindow({ by: 'U1', button: 'Answer', message });
  await submit(next, { City: 'Porto' });
  await expect.poll(() => chat.texts('C1', asked.ts).at(-1)).toBe('done');
});

test('secrets, and what Slack’s inputs cannot hold, are for our page', async () => {
  const cases = {
    secret: { key: { type: 'string', title: 'Password' } },
    choices: { c: { type: 'string', enum: Array.from({ length: 101 }, (_, index) => `c${index}`) } },
    'long choice': { c: { type: 'string', enum: ['x'.repeat(76), 'y'] } },
  };
  for (const [name, properties] of Object.entries(cases)) {
    const asked = await begin([asks({ trip: form('Fill it in', properties) })]);
    const window = await opened(asked);
    expect([name, inputsOf(window.view)]).toEqual([name, []]);
    expect(said(window)).toContain(`"url":"${setup.service.baseUrl}/auth/answer?e=${window.elicitationId}"`);
    // A submit of a window without inputs answers nothing.
    const { body } = await submit(
      { ...window, view: { ...window.view, callback_id: 'question' } },
      {},
      { metadata: window.elicitationId },
    );
    expect([name, body]).toEqual([name, expect.stringContaining('answered on its page')]);
    await press({ by: 'U1', button: 'Not now', message: (await asked.question()).message });
    expect(await asked.end()).toContain('*Asking*: Declined.');
  }
});
