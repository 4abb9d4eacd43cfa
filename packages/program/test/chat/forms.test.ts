/** Forms and pages of servers in the terminal: what a person sees and types, and what is sent for it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sendProblem, sendStream } from '../../../client/test/stream-server.ts';
import { shownArguments } from '@interlude-ai/core/elicitation/approval.ts';
import {
  answersTo,
  asking,
  context,
  form,
  page,
  receipt,
  said,
  settling,
  toolCall,
  toolDone,
} from './asked-forms.ts';
import { startChatSession, waitingTurn } from './chat-session.ts';
import type { ChatSession } from './chat-session.ts';

function typing({ keyboard }: ChatSession, ...lines: string[]): void {
  for (const line of lines) keyboard.line(line);
}

test('a form is a card, its fields, a review, and then one answer', async () => {
  const sitting = await startChatSession(settling({ f1: form }));
  const { screen, sees, bottomLine } = sitting;
  typing(sitting, 'List my issues');
  await sees('1/2 Name');
  expect(screen().map((line) => line.replace(/open until .*/, 'open until …'))).toEqual([
    '  /help lists the commands; Ctrl+C leaves.',
    '  Come back to this conversation with: npx interlude chat --conversation c1',
    '  ● Where to sleep?',
    '    asked by Travel Desk at travel.example · book trip · for Assistant',
    '    a form with 2 fields',
    '  /back the field before    /n Not now    /c Dismiss    open until …',
    '  Enter takes the value in [brackets]; - leaves out an optional field.',
    '  What you type is an answer; /new and some words sends a new message and drops the form.',
    '  1/2 Name',
  ]);
  expect(bottomLine()).toBe('Name › ');
  typing(sitting, 'no', '99');
  expect(screen().slice(-2)).toEqual([
    '  2/2 Nights · 1 to 30 · optional',
    '    ✗ That is too much: at most 30.',
  ]);
  expect(bottomLine()).toBe('Nights [3] › ');
  typing(sitting, '');
  expect(screen().slice(-3)).toEqual(['    → 3', '   1  Name    no', '   2  Nights  3']);
  expect(bottomLine()).toBe('Send? [Y/n/number to change] › ');
  expect(answersTo(sitting)).toEqual([]);
  typing(sitting, '');
  await sees('All done.');
  expect(answersTo(sitting)).toEqual([
    { conversationId: 'c1', elicitationId: 'f1', action: 'accept', content: { name: 'no', nights: 3 } },
  ]);
  expect(screen().slice(-3)).toEqual(['  ✓ Answered.', '  ⚙ Travel · book trip … done', 'All done.']);
});

test.each([
  ['/n', 'decline', '  – Not now.'],
  ['/C', 'cancel', '  – Dismissed.'],
])(
  '%s in the middle of a form is %s, and nothing of what was filled in is sent',
  async (line, action, words) => {
    const sitting = await startChatSession(settling({ f1: form }));
    typing(sitting, 'List my issues');
    await sitting.sees('1/2 Name');
    typing(sitting, 'Alice', line);
    await sitting.sees('All done.');
    expect(answersTo(sitting)).toEqual([{ conversationId: 'c1', elicitationId: 'f1', action }]);
    expect(sitting.screen()).toContain(words);
  },
);

test('several questions are put one after the other', async () => {
  const second = (status: string) => form(status, 'f2', { message: 'And who comes along?' });
  const sitting = await startChatSession(settling({ f1: form, f2: second, p1: page }));
  typing(sitting, 'List my issues');
  await sitting.sees('1/2 Name');
  expect(sitting.screen().join('\n')).not.toContain('And who comes along?');
  typing(sitting, 'Alice', '', '');
  await sitting.sees('And who comes along?');
  expect(sitting.screen().join('\n')).not.toContain('Pay the deposit.');
  expect(sitting.screen().filter((line) => line.includes('[brackets]'))).toHaveLength(1);
  typing(sitting, 'Bob', '', 'y');
  await sitting.sees('Pay the deposit.');
  typing(sitting, '');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toMatchObject([
    { elicitationId: 'f1', content: { name: 'Alice' } },
    { elicitationId: 'f2', content: { name: 'Bob' } },
    { elicitationId: 'p1', action: 'accept' },
  ]);
});

test('what else happens in the turn leaves a form as far as it is filled in', async () => {
  const waiting = waitingTurn(asking(form('pending')), (response, _nth, _path, body) => {
    response.end(receipt(body));
    waiting.goOn([form('accept'), toolDone, ...said('All done.')]);
    waiting.end();
  });
  const sitting = await startChatSession(waiting.reply);
  typing(sitting, 'List my issues');
  await sitting.sees('1/2 Name');
  typing(sitting, 'Alice');
  const other = { toolCallId: 'call-2', toolName: 'tracker__list_issues' };
  waiting.goOn([
    { ...toolCall, ...other },
    { ...toolDone, ...other },
  ]);
  await sitting.sees('Tracker · list issues … done');
  expect(sitting.bottomLine()).toBe('Nights [3] › ');
  typing(sitting, '', '');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toMatchObject([{ content: { name: 'Alice', nights: 3 } }]);
});

test('what the service does not take is said at its field, and the rest is kept', async () => {
  let refusals = 0;
  const waiting = waitingTurn(asking(form('pending')), (response, _nth, _path, body) => {
    refusals += 1;
    if (refusals === 1) {
      const errors = [{ pointer: '/content/nights', detail: 'must not be a prime' }];
      return sendProblem(response, 422, { code: 'invalid_content', detail: 'Correct it.', errors });
    }
    response.end(receipt(body));
    waiting.goOn([form('accept'), toolDone, ...said('All done.')]);
    waiting.end();
  });
  const sitting = await startChatSession(waiting.reply);
  typing(sitting, 'List my issues');
  await sitting.sees('1/2 Name');
  typing(sitting, 'Alice', '', '');
  await sitting.sees('✗ must not be a prime');
  expect(sitting.bottomLine()).toBe('Nights › ');
  typing(sitting, '4');
  expect(sitting.screen().slice(-2)).toEqual(['   1  Name    Alice', '   2  Nights  4']);
  typing(sitting, '');
  await sitting.sees('All done.');
  expect(answersTo(sitting).map(({ content }) => content)).toEqual([
    { name: 'Alice', nights: 3 },
    { name: 'Alice', nights: 4 },
  ]);
});

test.each([
  ['expired', {}, '  – Nobody answered in time. Ask again when you are ready.'],
  [
    'expired',
    { because: 'server_gave_up' },
    '  – Travel Desk did not wait any longer. Ask again when you are ready.',
  ],
  ['cancel', { because: 'server_gone' }, '  – Travel Desk is gone, and its question with it.'],
  ['accept', {}, '  ✓ Answered elsewhere.'],
  ['decline', {}, '  – Not now, was the answer elsewhere.'],
  ['cancel', {}, '  – Closed: nothing was decided.'],
])(
  'a form that closes (%s %j) while it is filled in is said to, and what was typed goes nowhere',
  async (status, why, words) => {
    const waiting = waitingTurn(asking(form('pending')), (response) =>
      sendStream(response, said('Hello.'), 'turn-2'),
    );
    const sitting = await startChatSession(waiting.reply);
    typing(sitting, 'List my issues');
    await sitting.sees('1/2 Name');
    typing(sitting, 'Alice');
    waiting.goOn([form(status, 'f1', why)]);
    await sitting.sees(words);
    expect(sitting.discards()).toBe(1);
    typing(sitting, '7');
    expect(sitting.screen().at(-1)).toBe(
      '  The agent is still at work. /stop stops it; then send that again.',
    );
    waiting.goOn([toolDone, ...said('All done.')]);
    waiting.end();
    await expect.poll(sitting.bottomLine).toBe('alice › ');
    expect(sitting.server.requests).toHaveLength(1);
  },
);

test('the time that is left for a form is told when it gets short', async () => {
  const expiresAt = new Date(Date.now() + 100_000).toISOString();
  const sitting = await startChatSession(settling({ f1: (status) => form(status, 'f1', { expiresAt }) }));
  typing(sitting, 'List my issues');
  await sitting.sees('1/2 Name');
  expect(sitting.bottomLine()).toMatch(/^1:\d\d left Name › $/);
});

test('/new takes the form’s place with a message', async () => {
  const waiting = waitingTurn(asking(form('pending')), (response) => {
    sendStream(response, [{ type: 'start' }, ...said('Hello, Alice.')], 'turn-2');
    waiting.goOn([form('cancel'), { type: 'abort' }]);
    waiting.end();
  });
  const sitting = await startChatSession(waiting.reply);
  typing(sitting, 'List my issues');
  await sitting.sees('1/2 Name');
  typing(sitting, 'Alice', '/new Hello');
  await sitting.sees('Hello, Alice.');
  expect(sitting.server.requests.at(-1)).toMatchObject({
    body: { messages: [{ parts: [{ text: 'Hello' }] }] },
  });
  expect(answersTo(sitting)).toEqual([]);
});

test('lines that come while an answer is on its way are not taken for the next question', async () => {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const waiting = waitingTurn(asking(form('pending')), async (response, _nth, _path, body) => {
    await isReleased;
    response.end(receipt(body));
    waiting.goOn([form('accept'), toolDone, ...said('All done.')]);
    waiting.end();
  });
  const sitting = await startChatSession(waiting.reply);
  typing(sitting, 'List my issues');
  await sitting.sees('1/2 Name');
  typing(sitting, 'Alice', '', '', '/n', '');
  await nextTurn();
  expect(sitting.screen().at(-1)).toBe('  No question is open.');
  release();
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toHaveLength(1);
});

test('a page of the server’s is shown whole, with every warning, and is done when the person says so', async () => {
  const warnings = ['userinfo', 'punycode', 'ip_host', 'plain_http'];
  const sitting = await startChatSession(
    settling({ p1: (status) => page(status, { context: { ...context, warnings } }) }),
  );
  typing(sitting, 'List my issues');
  await sitting.sees('https://alice@pay.example/x?y=1');
  const card = sitting.screen().join('\n');
  expect(card.match(/Careful: /g)).toHaveLength(4);
  expect(card).toMatch(/Enter when you are done {4}n Not now {4}c Dismiss {4}open until/);
  expect(sitting.bottomLine()).toMatch(/^Travel Desk · \d+:\d\d left › $/);
  typing(sitting, '');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toEqual([{ conversationId: 'c1', elicitationId: 'p1', action: 'accept' }]);
});

test('an address that is no web page is not shown, and can still be turned down', async () => {
  const url = 'vscode://localhost/install';
  const sitting = await startChatSession(settling({ p1: (status) => page(status, { url }) }));
  typing(sitting, 'List my issues');
  await sitting.sees('This terminal cannot show the link:');
  expect(sitting.screen().join('\n')).not.toContain('vscode');
  typing(sitting, 'n');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toMatchObject([{ action: 'decline' }]);
});

test('a form that this terminal cannot read can still be turned down', async () => {
  const nested = { type: 'object', properties: { it: { type: 'object', properties: {} } } };
  const sitting = await startChatSession(
    settling({ f1: (status) => form(status, 'f1', { requestedSchema: nested }) }),
  );
  typing(sitting, 'List my issues');
  await sitting.sees('This terminal cannot show the form:');
  typing(sitting, 'n');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toMatchObject([{ action: 'decline' }]);
});

const call = {
  trigger: 'approval',
  agent: 'Assistant',
  server: 'travel',
  serverTitle: 'Travel Desk',
  host: 'travel.example',
  toolName: 'book_trip',
  arguments: '{\n  "to": "Lisbon"\n}',
};
const approval = (status: string, context: object = call) =>
  form(status, 'a1', {
    message: 'Assistant wants to book trip in Travel Desk. Approve this?',
    requestedSchema: { type: 'object', properties: {} },
    context,
  });

test('hostile arguments are shown as what they are, to the last of thirty thousand characters', async () => {
  const hostile = '\u202Eevil\u202C\r\n  ✓ Approved.\u200B\u001B[2J';
  const sent = { to: hostile, padding: 'x'.repeat(30_000), last: 'the last word' };
  const context = { ...call, arguments: shownArguments(sent) };
  const sitting = await startChatSession(settling({ a1: (status) => approval(status, context) }));
  typing(sitting, 'List my issues');
  await sitting.sees('then Enter');
  expect(sitting.screen().join('\n')).toContain(
    '"to": "\\u202eevil\\u202c\\r\\n  ✓ Approved.\\u200b\\u001b[2J"',
  );
  expect(sitting.screen().join('\n')).toContain('"last": "the last word"');
  expect(sitting.screen().join('\n')).not.toMatch(/^ *✓ Approved\.$/m);
  typing(sitting, 'n');
  await sitting.sees('Declined');
  expect(answersTo(sitting)).toMatchObject([{ action: 'decline' }]);
});

test.each([
  ['y', { action: 'accept' }, '  ✓ Approved.'],
  ['yc', { action: 'accept', remember: 'conversation' }, '  ✓ Approved.'],
  ['YA', { action: 'accept', remember: 'always' }, '  ✓ Approved.'],
  ['n', { action: 'decline' }, '  – Declined: nothing was sent.'],
  [
    'n  Not on a Friday.',
    { action: 'decline', reason: 'Not on a Friday.' },
    '  – Declined: nothing was sent.',
  ],
  ['c', { action: 'cancel' }, '  – Dismissed.'],
])('a call to approve is shown with what will be sent, and %s answers it', async (line, answer, words) => {
  const sitting = await startChatSession(settling({ a1: approval }));
  typing(sitting, 'List my issues');
  await sitting.sees('"to": "Lisbon"');
  const card = sitting.screen().join('\n');
  expect(card).toContain('● Assistant wants to book trip in Travel Desk. Approve this?');
  expect(card).toContain('    what will be sent to book_trip:\n    {\n      "to": "Lisbon"\n    }\n');
  expect(card).toContain('  y Approve    yc … in this conversation    ya … always\n');
  // Enter alone approves nothing.
  typing(sitting, '');
  expect(answersTo(sitting)).toEqual([]);
  typing(sitting, line);
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toEqual([{ conversationId: 'c1', elicitationId: 'a1', ...answer }]);
  expect(sitting.screen()).toContain(words);
});

test('a server’s form without fields is a form', async () => {
  const empty = { requestedSchema: { type: 'object', properties: {} } };
  const sitting = await startChatSession(settling({ f1: (status) => form(status, 'f1', empty) }));
  typing(sitting, 'List my issues');
  await sitting.sees('a form with');
  expect(sitting.screen().join('\n')).not.toContain('Approve');
  typing(sitting, '');
  await sitting.sees('All done.');
  expect(answersTo(sitting)).toMatchObject([{ action: 'accept', content: {} }]);
});
