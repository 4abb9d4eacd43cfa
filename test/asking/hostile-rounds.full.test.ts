/** A server that asks without end, in each way: the call ends, and the error names the server. */
import { expect, test } from 'vitest';
import { asks, form, page } from '../servers/hostile-server.ts';
import type { Trick } from '../servers/hostile-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { callTool, useHostileService } from '../service/hostile-call.ts';

const text = (words: string) => ({ resultType: 'complete', content: [{ type: 'text', text: words }] });

/** Keys that are something else already, in one language or another. */
const oddKeys = ['__proto__', 'constructor', 'toString', 'length', '', '0', '../key', 'Schlüssel "☃"'];

const tricks: Record<string, Trick> = {
  forever: (message, response, call) =>
    asks({ sure: form() }, { requestState: `s${call.calls.length}` })(message, response, call),
  waiting_room: asks(undefined, { requestState: 'come back later' }),
  same_page: asks({ page: page('https://pay.example/start') }),
  page_after_page: (message, response, call) =>
    asks({ page: page(`https://pay.example/${call.calls.length}`) })(message, response, call),
  other_keys: (message, response, call) =>
    asks({ [`key${call.calls.length}`]: form({ message: 'Which?' }) })(message, response, call),
  odd_keys: (message, response, call) =>
    call.calls.length === 1
      ? asks(Object.fromEntries(oddKeys.map((key) => [key, form({ message: `Key <${key}>` })])))(
          message,
          response,
          call,
        )
      : answer(message, response, text('thank you')),
  long_key: asks({ ['k'.repeat(2_000)]: form() }),
};

const { server, alice } = useHostileService({ era: 'modern', tricks });

const inputResponses = (tool: string) => server.calls(tool).map(({ params }) => params?.inputResponses);

test('a server that asks again after every answer is stopped after its rounds', async () => {
  const { error, asked } = await callTool(alice, 'forever');
  expect(error).toMatch(/^Hostile kept asking: it was given 5 rounds of answers/);
  expect(asked).toHaveLength(5);
  expect(server.calls('forever').map(({ params }) => params?.requestState)).toEqual([
    undefined,
    's1',
    's2',
    's3',
    's4',
    's5',
  ]);
});

test('a server that only wants to be called later is stopped after its rounds, and nobody is asked', async () => {
  const { error, asked, tookMs } = await callTool(alice, 'waiting_room');
  expect(error).toMatch(/^Hostile kept asking/);
  expect(asked).toEqual([]);
  expect(server.calls('waiting_room').map(({ params }) => params?.requestState)).toEqual([
    undefined,
    ...Array.from({ length: 5 }, () => 'come back later'),
  ]);
  // The pauses between its rounds: 0.25, 0.5, 1, 2 and 4 seconds.
  expect(tookMs).toBeGreaterThan(7_500);
});

test('a page that is wanted again and again is opened three times', async () => {
  const { error, asked } = await callTool(alice, 'same_page');
  expect(error).toMatch(/^Hostile sent the user to the same page 3 times/);
  expect(asked).toHaveLength(3);
});

test('a new page after every page is stopped after its rounds', async () => {
  const { error, asked } = await callTool(alice, 'page_after_page');
  expect(error).toMatch(/^Hostile kept asking/);
  expect(asked).toHaveLength(5);
});

test('a server that changes its keys gets each answer under the key of its question, once', async () => {
  const { error } = await callTool(alice, 'other_keys');
  expect(error).toMatch(/^Hostile kept asking/);
  const sure = { action: 'accept', content: { sure: true } };
  expect(inputResponses('other_keys')).toEqual([
    undefined,
    ...[1, 2, 3, 4, 5].map((n) => ({ [`key${n}`]: sure })),
  ]);
});

test('a question may go by any key, and its answer goes back under the same', async () => {
  const { asked, chunks } = await callTool(alice, 'odd_keys', {
    answer: ({ message }) => (message === 'Key <__proto__>' ? { action: 'decline' } : { action: 'cancel' }),
  });
  expect(asked.map(({ message }) => message).toSorted()).toEqual(
    oddKeys.map((key) => `Key <${key}>`).toSorted(),
  );
  const sent = server.calls('odd_keys')[1]?.params?.inputResponses ?? {};
  expect(Object.entries(sent).toSorted()).toEqual(
    oddKeys.map((key) => [key, { action: key === '__proto__' ? 'decline' : 'cancel' }]).toSorted(),
  );
  expect(chunks).toContainEqual(expect.objectContaining({ type: 'tool-output-available' }));
});

test('a key that is no name any more is refused', async () => {
  const { error, asked } = await callTool(alice, 'long_key');
  expect(error).toMatch(/^Hostile \(127\.0\.0\.1:\d+\) asked for something .*key/);
  expect(asked).toEqual([]);
});
