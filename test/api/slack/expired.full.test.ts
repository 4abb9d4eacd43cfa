/** A modal that is still open when the question expires: it says so, and so does the thread. */
import { expect, test } from 'vitest';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { untilSaid, useAskingInSlack } from './asking-in-slack.ts';

const setup = await useAskingInSlack({ env: { ELICITATION_TIMEOUT: '15s' } });
const { begin, openWindow, submit, statusOf, server } = setup;

test('a question that expires while its window is open', async () => {
  const asked = await begin([
    asks({ trip: form('Which city?', { city: { type: 'string', title: 'City' } }) }),
  ]);
  const { message, elicitationId } = await asked.question();
  const window = await openWindow({ by: 'U1', button: 'Answer', message });
  await expect.poll(() => statusOf(elicitationId), { timeout: 60_000 }).toBe('expired');
  const late = { ...window, view: { ...window.view, callback_id: 'question' } };
  await submit(late, {}, { metadata: elicitationId }).then(({ body }) =>
    expect(body).toContain('This question is settled already. Nobody answered in time.'),
  );
  expect(await asked.end()).toContain('*Asking*: Nobody answered in time.');
  const again = await openWindow({ by: 'U1', button: 'Answer', message });
  await untilSaid(again, 'Nobody answered in time.');
  expect(server.calls.at(-1)?.params.inputResponses?.['trip']?.action).not.toBe('accept');
});
