/** Turn logs as the stock clients read them: they verify the order of events, and end up with the messages that a snapshot has. */
import { HttpAgent } from '@ag-ui/client';
import type { Message } from '@ag-ui/core';
import { EventSchema } from '@ag-ui/core/schemas';
import { HttpAgent as EarlierHttpAgent } from 'ag-ui-client-0.0.59';
import { describe, expect, test, vi } from 'vitest';
import { createTranslator, fromBeginning } from '../../../src/api/ag-ui/translate.ts';
import type { Translator } from '../../../src/api/ag-ui/translate.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';

const said = (id: string, delta: string): TurnEvent[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta },
];
const called = (toolCallId: string, more: object = {}): TurnEvent => ({
  type: 'tool-input-available',
  toolCallId,
  toolName: 'tracker__list',
  input: { state: 'open' },
  ...more,
});
const resulted = (toolCallId: string, text: string): TurnEvent => ({
  type: 'tool-output-available',
  toolCallId,
  toolName: 'tracker__list',
  output: { content: [{ type: 'text', text }] },
});
const start: TurnEvent[] = [
  { type: 'turn-started', agent: 'assistant', messageId: 't' },
  { type: 'start-step', step: 0 },
];
const end: TurnEvent[] = [
  { type: 'finish-step', step: 0 },
  { type: 'turn-ended', status: 'completed' },
];
const reading = (event: TurnEvent): TurnEvent => ({ ...event, path: ['reader'], parentToolCallId: 'c1' });

const logs: [what: string, events: TurnEvent[], messages: object[]][] = [
  [
    'reasoning, text and a call of one step are in order, and the call is in the text’s message',
    [
      ...start,
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r' },
      ...said('a', 'Let me look.'),
      { type: 'text-end', id: 'a' },
      called('c1'),
      { type: 'tool-progress', toolCallId: 'c1', toolName: 'tracker__list', progress: 1, total: 2 },
      { type: 'finish-step', step: 0 },
      resulted('c1', '7'),
      { type: 'start-step', step: 1 },
      ...said('a', 'There are 7.'),
      ...end.slice(1),
    ],
    [
      { role: 'reasoning', content: 'Hm.' },
      { role: 'assistant', content: 'Let me look.', toolCalls: [{ id: 'c1' }] },
      { role: 'tool', toolCallId: 'c1', content: '7' },
      { role: 'assistant', content: 'There are 7.' },
    ],
  ],
  [
    'text that is withdrawn is taken back by a snapshot, also while it is being written',
    [
      ...start,
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      ...said('a', 'There are '),
      { type: 'reset-step', step: 0 },
      { type: 'start-step', step: 0 },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Well.' },
      ...said('a', 'None.'),
      ...end,
    ],
    [
      { role: 'reasoning', content: 'Well.' },
      { role: 'assistant', content: 'None.' },
    ],
  ],
  [
    'delegates are subagents, also of subagents, and what they say is theirs',
    [
      ...start,
      called('c1', { toolName: 'agent__reader', agent: 'reader' }),
      { type: 'finish-step', step: 0 },
      reading({ type: 'start-step', step: 0 }),
      ...said('a', 'Mine.').map(reading),
      reading(called('c2', { toolName: 'agent__editor', agent: 'editor' })),
      reading({ type: 'finish-step', step: 0 }),
      { ...reading({ type: 'start-step', step: 0 }), parentToolCallId: 'c2' },
      { ...reading({ type: 'finish-step', step: 0 }), parentToolCallId: 'c2' },
      reading(resulted('c2', 'read')),
      { type: 'tool-output-error', toolCallId: 'c1', toolName: 'agent__reader', errorText: 'It failed.' },
      { type: 'turn-ended', status: 'completed' },
    ],
    [
      { role: 'assistant', toolCalls: [{ id: 'c1' }] },
      { role: 'tool', toolCallId: 'c1', content: 'It failed.' },
      { role: 'assistant', content: 'Mine.', toolCalls: [{ id: 'c2' }], subagentRunId: 'c1' },
      { role: 'tool', toolCallId: 'c2', content: 'read', subagentRunId: 'c1' },
    ],
  ],
  [
    'a turn that ends while a delegate works closes it',
    [
      ...start,
      called('c1', { toolName: 'agent__reader', agent: 'reader' }),
      { type: 'finish-step', step: 0 },
      reading({ type: 'start-step', step: 0 }),
      ...said('a', 'I was just').map(reading),
      { type: 'turn-ended', status: 'cancelled' },
    ],
    [{ role: 'assistant' }, { role: 'assistant', content: 'I was just', subagentRunId: 'c1' }],
  ],
];

describe.each(logs)('%s', (_what, events, expected) => {
  const entries = events.map((event, index) => ({ seq: index + 1, turnId: 't', at: 0, event }));
  const run = (outcome: object) => [
    { type: 'RUN_STARTED', threadId: 'th', runId: 'r1' },
    { type: 'RUN_FINISHED', threadId: 'th', runId: 'r1', outcome },
  ];

  test.each([
    ['1.0.0', HttpAgent],
    ['0.0.59', EarlierHttpAgent as unknown as typeof HttpAgent],
  ])('with the client %s', async (version, Client) => {
    const translator = createTranslator({ isOld: version !== '1.0.0' });
    const [begun, finished] = run({ type: 'success' });
    const sent = [begun, ...entries.flatMap(translator.add), finished];
    const messages = await read(Client, sent);
    expect(messages.filter(isKept(translator))).toEqual(
      JSON.parse(JSON.stringify(translator.messages().map(({ error: _, ...message }) => message))),
    );
    expect(translator.messages()).toMatchObject(expected);
  });

  test('in any two runs', async () => {
    for (let cut = 1; cut < entries.length; cut++) {
      const before = createTranslator();
      const first = entries.slice(0, cut).flatMap(before.add);
      const [begun, paused] = run({ type: 'cancelled' });
      const messages = await read(HttpAgent, [begun, ...first, ...before.suspend([]), paused]);

      const after = createTranslator();
      const earlier = entries.slice(0, cut).flatMap(after.add);
      const had = new Set(messages.flatMap(({ id, role }) => (role === 'reasoning' ? [id] : [])));
      const again = fromBeginning(earlier, structuredClone(after.messages()), had);
      const begin = after.isWriting()
        ? [{ type: 'MESSAGES_SNAPSHOT', messages: again.snapshot }, ...again.events]
        : after.open();
      const rest = [...begin, ...entries.slice(cut).flatMap(after.add)];
      const [, finished] = run({ type: 'success' });
      const all = await read(HttpAgent, [begun, ...rest, finished], messages);
      expect(shapesOf(all.filter(isKept(after)))).toEqual(shapesOf(after.messages()));
    }
  });
});

/** What a person sees of each message. */
function shapesOf(messages: { id: string; role: string; content?: unknown }[]) {
  return messages.map(({ id, role, content }) => [id, role, role === 'tool' ? '' : (content ?? '')]);
}

/** Progress is no message. A client keeps reasoning that was withdrawn, unless a snapshot has other reasoning. */
function isKept(translator: Translator): (message: Message) => boolean {
  const ids = translator.messages().map(({ id }) => id);
  return ({ id, role }) => role !== 'activity' && (role !== 'reasoning' || ids.includes(id));
}

async function read(
  Client: typeof HttpAgent,
  events: unknown[],
  messages: Message[] = [],
): Promise<Message[]> {
  for (const event of events) EventSchema.parse(JSON.parse(JSON.stringify(event)));
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const agent = new Client({
    url: 'http://localhost/',
    threadId: 'th',
    initialMessages: messages,
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const warned = vi.spyOn(console, 'warn');
  await agent.runAgent();
  expect(warned.mock.calls).toEqual([]);
  return JSON.parse(JSON.stringify(agent.messages)) as Message[];
}
