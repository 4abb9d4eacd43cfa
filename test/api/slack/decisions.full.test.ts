/** Approvals and links in Slack's windows: all of it is shown, nothing is a yes by itself, and each kind of yes and no counts. */
import { expect, test } from 'vitest';
import { escapeText } from '../../../src/api/slack/vocabulary/text/mrkdwn.ts';
import { asks, form, page } from '../../servers/scripted-mcp-server.ts';
import { callOf, respond } from '../../service/asking.ts';
import type { OpenWindow } from '../../servers/slack/views.ts';
import { buttonsOf } from '../../servers/slack/views.ts';
import { said, untilSaid, untilTaken, useAskingInSlack } from './asking-in-slack.ts';
import type { Asked } from './asking-in-slack.ts';

const setup = await useAskingInSlack({ env: { ASKING_APPROVAL: 'always' } });
const { begin, opened, press, submit, server, chat, write, whispered, statusOf } = setup;

const once = { 'Your decision': 'Allow once' };
const callAgain = (ts: string) =>
  write({ by: 'U1', threadTs: ts, text: callOf(['ask', {}]), type: 'message' });

async function approved(asked: Asked): Promise<void> {
  const window = await opened(asked);
  await submit(window, once);
  await untilTaken(window);
}

/** What the window shows of the call, put together again. */
function shownCode({ view }: OpenWindow): string {
  const texts = view.blocks.map(({ text }) => (text as { text?: string } | undefined)?.text ?? '');
  const code = texts.flatMap((text) => /^```\n(.*)\n```$/s.exec(text)?.[1] ?? []);
  return code.join('\n').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

test('an approval shows what will be sent, all of it; allowed once, the next call is asked about again', async () => {
  const input = { note: `*<@U2>* & <!channel> ${'<&>'.repeat(3_000)}`, n: 7 };
  const asked = await begin([], { text: escapeText(callOf(['ask', input])) });
  const { message, elicitationId } = await asked.question();
  expect(message.text).toMatch(/^<@U1> \*Asking\*: Assistant wants to ask in Asking. Approve this\?/);
  expect(JSON.stringify(message)).not.toContain('note');
  expect(buttonsOf(message).map(({ text }) => text.text)).toEqual(['Review', 'Refuse']);
  const window = await opened(asked);
  expect(shownCode(window).replaceAll('\n', '')).toBe(JSON.stringify(input, null, 2).replaceAll('\n', ''));
  expect(said(window)).not.toMatch(/<(?:[@#]|!(?!date))/);
  expect(said(window)).toContain('to `ask`');
  // Nothing is chosen, and what comes without a choice decides nothing.
  await expect(submit(window)).rejects.toThrow('Slack wants "Your decision" filled in');
  const bare = { ...window, view: { ...window.view, blocks: [] } };
  expect((await submit(bare, {}, { metadata: elicitationId })).body).toContain('Choose one of these.');
  expect(await statusOf(elicitationId)).toBe('pending');
  expect(server.calls).toEqual([]);
  await submit(window, once);
  await untilTaken(window);
  expect(await asked.end()).toEqual(['*Asking*: Approved.', 'done']);
  expect(server.calls.map(({ params }) => params.arguments)).toEqual([input]);

  await callAgain(asked.ts);
  const again = await opened(asked, 1);
  await submit(again, { 'Your decision': 'Allow in this conversation' });
  await untilTaken(again);
  await callAgain(asked.ts);
  await expect.poll(() => chat.texts('C1', asked.ts).filter((text) => text === 'done').length).toBe(3);
  expect(server.calls).toHaveLength(3);
});

test('an approval that was given elsewhere says so', async () => {
  const asked = await begin([]);
  const { elicitationId } = await asked.question();
  const row = await setup.service.storage.elicitations.get(elicitationId);
  const alice = await setup.service.as('alice');
  await respond(alice, row?.conversation ?? '', { elicitationId }, { action: 'accept', content: {} });
  expect(await asked.end()).toEqual(['*Asking*: Approved elsewhere.', 'done']);
});

test('a refusal takes its reason to the model, and “Refuse” below the message refuses without a window', async () => {
  const asked = await begin([]);
  const window = await opened(asked);
  await submit(window, { 'Your decision': 'Refuse', 'If you refuse, why?': 'Not on a Sunday' });
  await untilTaken(window);
  expect(await asked.end()).toContain('*Asking*: Refused.');
  expect(JSON.stringify(await setup.logOf(asked.ts))).toContain('Not on a Sunday');
  const second = await begin([]);
  await press({ by: 'U1', button: 'Refuse', message: (await second.question()).message });
  expect(await second.end()).toContain('*Asking*: Refused.');
  expect(server.calls).toEqual([]);
});

test('several questions of one call stand below each other, and each window answers its own', async () => {
  const asked = await begin([
    asks({
      a: form('First?', { city: { type: 'string', title: 'City' } }),
      b: form('Second?', { city: { type: 'string', title: 'City' } }),
    }),
  ]);
  await approved(asked);
  const messages = [(await asked.question(1)).message, (await asked.question(2)).message];
  const answers: Record<string, string> = { 'First?': 'Lisbon', 'Second?': 'Porto' };
  // Both are open on the screen at once; the later one is answered first.
  const windows = [await opened(asked, 1), await opened(asked, 2)];
  for (const window of windows.toReversed()) {
    const [words = ''] = Object.keys(answers).filter((one) => said(window).includes(one));
    await submit(window, { City: answers[words] ?? '' });
    await untilTaken(window);
  }
  expect(new Set(messages.map(({ text }) => /(First|Second)\?/.exec(text)?.[0]))).toEqual(
    new Set(['First?', 'Second?']),
  );
  expect((await asked.end()).filter((text) => text === '*Asking*: Answered.')).toHaveLength(2);
  expect(server.calls.at(-1)?.params.inputResponses).toEqual({
    a: { action: 'accept', content: { city: 'Lisbon' } },
    b: { action: 'accept', content: { city: 'Porto' } },
  });
});

test('a question of a delegated agent says for whom it is, in its thread and in its window', async () => {
  await setup.service.storage.slack.threads.setAgent('T1', 'C5', 'lead');
  const task = callOf(['ask', {}]);
  const asked = await begin([], { channel: 'C5', text: `call agent__assistant ${JSON.stringify({ task })}` });
  const { message } = await asked.question();
  expect(message.text).toContain('*Asking* (for Assistant): ');
  const window = await opened(asked);
  expect(said(window)).toContain('*Asking*, for Assistant');
  await submit(window, once);
  await untilTaken(window);
  expect(await asked.end()).toContain('*Asking* (for Assistant): Approved.');
  expect(server.calls).toHaveLength(1);
});

test('a link is shown whole and leads nowhere before its person agrees, which is their consent', async () => {
  const url = 'https://xn--pple-43d.example/pay?a=1&b=%3C';
  const asked = await begin([asks({ there: page(url, 'Pay here') })]);
  await approved(asked);
  const { message, elicitationId } = await asked.question(1);
  expect(JSON.stringify(message)).not.toContain('xn--');
  expect(buttonsOf(message).map(({ text }) => text.text)).toEqual(['Open', 'Not now']);
  const window = await opened(asked, 1);
  expect(shownCode(window)).toBe(url);
  expect(said(window)).toContain('Careful: the address has letters that may only look familiar.');
  expect(buttonsOf(window.view)).toEqual([]);
  expect(await statusOf(elicitationId)).toBe('pending');
  await submit(window);
  await untilSaid(window, `"url":${JSON.stringify(url)}`);
  expect(await asked.end()).toContain('*Asking*: Opened.');
  expect(server.calls.at(-1)?.params.inputResponses).toEqual({ there: { action: 'accept' } });
  const audit = await setup.service.storage.audit.ofElicitation(elicitationId);
  expect(audit).toMatchObject([{ action: 'answered', actor: 'alice', detail: 'accept' }]);
});

test('nobody else approves or agrees, and a link that nobody agreed to is not given', async () => {
  const asked = await begin([]);
  const { message, elicitationId } = await asked.question();
  const before = setup.views.opened.length;
  await press({ by: 'U2', button: 'Review', message });
  await expect.poll(() => whispered('U2').at(-1)).toContain('This is for another person');
  await press({ by: 'U2', button: 'Refuse', message });
  await expect.poll(() => whispered('U2').length).toBe(2);
  expect(setup.views.opened).toHaveLength(before);
  const window = await opened(asked);
  const { body } = await submit(window, once, { by: 'U2', metadata: elicitationId });
  expect(body).toContain('This is for another person');
  expect(await statusOf(elicitationId)).toBe('pending');
  await press({ by: 'U1', button: 'Refuse', message });
  await asked.end();
});
