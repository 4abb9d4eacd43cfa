/** What the terminal client shows, in which order. */
import { expect, test } from 'vitest';
import {
  beginStream,
  question,
  sendProblem,
  sendStream,
  toEvents,
  toolCall,
} from '../../../client/test/stream-server.ts';
import { startChatSession, waitingTurn } from './chat-session.ts';

const said = (text: string) => [
  { type: 'start' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: text },
  { type: 'text-end', id: 't' },
  { type: 'finish' },
];
const failedCall = { type: 'tool-output-error', toolCallId: 'call-1', errorText: 'The tool did not run.' };
const asking = [{ type: 'start' }, toolCall, question('pending')];

test('a line that is typed while a question is open takes its place, and that was said before', async () => {
  const waiting = waitingTurn(asking, (response) => {
    sendStream(response, said('Hello, Alice.'), 'turn-2');
    // The end of the old one is on its way, over another connection.
    setTimeout(() => {
      waiting.goOn([question('cancel'), failedCall, { type: 'abort' }]);
      waiting.end();
    }, 100);
  });
  const { keyboard, screen, sees, bottomLine } = await startChatSession(waiting.reply);
  keyboard.line('List my issues');
  await sees('Anything else you type is a new message; this question is then dropped.');
  expect(bottomLine()).toMatch(/^Tracker · .* left › $/);
  keyboard.line('Hello');
  await sees('Hello, Alice.');
  expect(screen().slice(-3)).toEqual([
    '  – Left undecided: Tracker. Your new message counts.',
    '  ⚙ Tracker · list issues … not connected',
    'Hello, Alice.',
  ]);
  await expect.poll(bottomLine).toBe('alice › ');
});

test('a turn that is slow to say goodbye does not hold up the one that took its place', async () => {
  const waiting = waitingTurn(asking, (response) => sendStream(response, said('Hello, Alice.'), 'turn-2'));
  const { keyboard, sees, bottomLine } = await startChatSession(waiting.reply);
  keyboard.line('List my issues');
  await sees('is a new message');
  keyboard.line('Hello');
  await sees('Hello, Alice.');
  await expect.poll(bottomLine).toBe('alice › ');
});

test('a line that comes when the turn has just gone on is refused in words, and the turn is told to its end', async () => {
  const waiting = waitingTurn(asking, (response) =>
    sendProblem(response, 409, {
      code: 'turn_in_progress',
      detail: 'Wait for the turn to end.',
      turnId: 't1',
    }),
  );
  const { keyboard, screen, sees, bottomLine } = await startChatSession(waiting.reply);
  keyboard.line('List my issues');
  await sees('is a new message');
  keyboard.line('Hello');
  await sees('✗ Wait for the turn to end.');
  expect(bottomLine()).toMatch(/^Tracker · /);
  waiting.goOn([question('accept'), ...said('Three issues.').slice(1)]);
  waiting.end();
  await sees('Three issues.');
  expect(screen().slice(-3)).toEqual([
    '  ✗ Wait for the turn to end.',
    '  ✓ Tracker is connected.',
    'Three issues.',
  ]);
  await expect.poll(bottomLine).toBe('alice › ');
});

test('a line that is typed while the agent is at work is not sent', async () => {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  const { keyboard, sees, server } = await startChatSession(async (response) => {
    beginStream(response);
    response.write(toEvents([{ type: 'start' }, toolCall]));
    await isOver;
    response.end(toEvents([{ type: 'finish' }]));
  });
  keyboard.line('List my issues');
  await expect.poll(() => server.requests.length).toBe(1);
  keyboard.line('Hello');
  await sees('The agent is still at work. /stop stops it; then send that again.');
  end();
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['before', [failedCall, question('decline')]],
  ['after', [question('decline'), failedCall]],
])(
  'a tool whose account was declined is not said to have failed: its end comes %s the decision’s',
  async (_, end) => {
    const waiting = waitingTurn(asking, (response) => {
      response.end(JSON.stringify({ elicitationId: 'q1', status: 'decline', duplicate: false }));
      waiting.goOn([...end, ...said('As you like.').slice(1)]);
      waiting.end();
    });
    const { keyboard, screen, sees, server } = await startChatSession(waiting.reply);
    keyboard.line('List my issues');
    await sees('n Not now');
    keyboard.line('n');
    await sees('As you like.');
    expect(screen()).toContain('  ⚙ Tracker · list issues … not connected');
    expect(screen()).toContain('  – Not now: Tracker is left out.');
    expect(server.requests.at(-1)).toMatchObject({ body: { elicitationId: 'q1', action: 'decline' } });
  },
);

test('a tool that fails although its account is connected is said to have failed', async () => {
  const { keyboard, screen, sees } = await startChatSession((response) =>
    sendStream(response, [...asking, question('accept'), failedCall, ...said('Sorry.').slice(1)]),
  );
  keyboard.line('List my issues');
  await sees('Sorry.');
  expect(screen()).toContain('  ⚙ Tracker · list issues … did not work');
});

test('the bottom line says what is being done, and by whom', async () => {
  const operation = (id: string, type: string, label: string, agent: string) => ({
    type: 'data-operation',
    id,
    data: { type, label, details: { timestamp: '2026-11-21T12:00:00.000Z', agent } },
  });
  let more: (chunks: object[]) => void = () => undefined;
  const { keyboard, bottomLine, server } = await startChatSession((response) => {
    beginStream(response);
    more = (chunks) => void response.write(toEvents(chunks));
    more([{ type: 'start' }, operation('op-1', 'model_step', 'Step 1', 'assistant')]);
  });
  keyboard.line('List my issues');
  await expect.poll(bottomLine).toBe('thinking … ');
  expect(server.requests[0]?.headers).toMatchObject({ 'x-emit-operations': 'true' });
  more([operation('op-2', 'delegation', 'Asking researcher', 'assistant')]);
  await expect.poll(bottomLine).toBe('Asking researcher … ');
  more([
    operation('op-3', 'tool_call', 'Calling tracker · list issues', 'researcher'),
    operation('op-4', 'elicitation', 'Question settled', 'researcher'),
  ]);
  await expect.poll(bottomLine).toBe('researcher: Calling tracker · list issues … ');
  more([operation('op-5', 'weather', 'Sunny', 'assistant')]);
  await expect.poll(bottomLine).toBe('… ');
});

test('who comes back sees what was said before, then what is going on', async () => {
  const message = (role: string, text: string) => ({ id: text, role, parts: [{ type: 'text', text }] });
  const { screen, sees } = await startChatSession(
    (response, _nth, path) => {
      if (path.endsWith('/stream')) return sendStream(response, said('Still at it.'));
      const items = [
        message('user', 'Hel\u001b[2Jlo'),
        { id: 'a1', role: 'assistant', parts: [{ type: 'step-start' }] },
        message('assistant', 'Hello, Alice.'),
        message('user', 'And?'),
      ];
      response.end(JSON.stringify({ id: 'c1', messages: { items, next: 'x' } }));
    },
    { resume: true },
  );
  await sees('Still at it.');
  expect(screen()).toEqual([
    '  /help lists the commands; Ctrl+C leaves.',
    '  Come back to this conversation with: npx interlude chat --conversation c1',
    '  What was said before that is not shown.',
    'alice › Hel[2Jlo',
    'Hello, Alice.',
    'alice › And?',
    'Still at it.',
  ]);
});

test('a conversation that does not exist yet begins without a word about that', async () => {
  const { keyboard, screen, sees, bottomLine } = await startChatSession(
    (response, _nth, path) => {
      if (path.endsWith('/stream')) return void response.writeHead(204).end();
      if (path.startsWith('/run/v1/'))
        return sendProblem(response, 404, { code: 'conversation_not_found', detail: 'There is none.' });
      sendStream(response, said('Welcome.'));
    },
    { resume: true },
  );
  await expect.poll(bottomLine).toBe('alice › ');
  keyboard.line('Hello');
  await sees('Welcome.');
  expect(screen()).toEqual([
    '  /help lists the commands; Ctrl+C leaves.',
    '  Come back to this conversation with: npx interlude chat --conversation c1',
    'Welcome.',
  ]);
});

test('a reason for which two requests fail is printed once, without the fields that it names already', async () => {
  const detail = '/conversation: use another id';
  const { screen, sees } = await startChatSession(
    (response) =>
      sendProblem(response, 400, {
        code: 'invalid_request',
        detail,
        errors: [{ pointer: '/conversation', detail: 'use another id' }],
      }),
    { resume: true },
  );
  await sees(detail);
  await expect.poll(() => screen().filter((line) => line.includes('use another id'))).toHaveLength(1);
});

test('leaving while a message is taking a question’s place leaves', async () => {
  const { promise: isSent, resolve: reportSent } = Promise.withResolvers<void>();
  const { promise: isGone, resolve: reportGone } = Promise.withResolvers<void>();
  const waiting = waitingTurn(asking, (response) => {
    response.on('close', reportGone);
    reportSent();
  });
  const { keyboard, left, sees, screen, server } = await startChatSession(waiting.reply);
  keyboard.line('List my issues');
  await sees('is a new message');
  keyboard.line('Hello');
  await isSent;
  keyboard.line('And?');
  await sees('The agent is still at work.');
  keyboard.end();
  await isGone;
  expect(server.requests).toHaveLength(2);
  expect(await left).toBe(true);
  expect(screen().at(-1)).toContain('The turn goes on without you.');
});

test('leaving while the service is away claims nothing about the message', async () => {
  const { keyboard, bottomLine, screen, left } = await startChatSession(
    (response) => void response.destroy(),
  );
  keyboard.line('Hello');
  await expect.poll(bottomLine).toContain('connection lost; reconnecting');
  keyboard.end();
  await left;
  expect(screen().at(-1)).toContain('It is not known whether your message arrived. Come back with:');
});
