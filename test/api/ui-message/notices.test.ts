import type { UIMessageChunk } from 'ai';
import { describe, expect, test } from 'vitest';
import { ToolAuthRequiredSchema } from '@interlude-ai/core/contract/stream-event.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';
import { accountQuestion, chunksFor, toolCall } from './log.ts';

const cannotAsk = { url: false, form: false };
const formsOnly = { url: false, form: true };
const canAsk = { url: true, form: false };

const nobodyAsked: TurnEvent[] = [
  { type: 'turn-started', agent: 'assistant', messageId: 'm1' },
  { type: 'start-step', step: 0 },
  toolCall('c1', 'tracker__list_issues'),
  {
    type: 'tool-auth-required',
    toolCallId: 'c1',
    toolName: 'tracker__list_issues',
    server: 'tracker',
    serverTitle: 'Tracker',
    message: 'Tracker needs your account to list issues. Ask again elsewhere.',
  },
  { type: 'tool-output-error', toolCallId: 'c1', toolName: 'tracker__list_issues', errorText: 'no account' },
];

/** Its caller could be asked. */
function askedElsewhere(calls: [id: string, name: string][], tool?: string): TurnEvent[] {
  return [
    { type: 'turn-started', agent: 'assistant', messageId: 'm1' },
    { type: 'start-step', step: 0 },
    ...calls.map(([id, name]) => toolCall(id, name)),
    accountQuestion('pending', tool),
    accountQuestion('accept', tool),
  ];
}

const noticesIn = (chunks: UIMessageChunk[]) =>
  chunks.flatMap((chunk) => (chunk.type === 'data-tool-auth-required' ? [chunk] : []));

describe('a reader that cannot be asked to connect an account', () => {
  test.each([
    ['at all', cannotAsk],
    ['because it shows forms only', formsOnly],
  ])('(%s) is told at the tool call whose account is missing', (_, capabilities) => {
    const [notice, ...others] = noticesIn(chunksFor({ capabilities }, nobodyAsked));
    expect(others).toEqual([]);
    expect(notice).toEqual({
      type: 'data-tool-auth-required',
      id: 'c1',
      data: {
        server: 'tracker',
        serverTitle: 'Tracker',
        toolName: 'tracker__list_issues',
        message: 'Tracker needs your account to list issues. Ask again elsewhere.',
      },
    });
    expect(ToolAuthRequiredSchema.safeParse(notice?.data).success).toBe(true);
  });

  test('is told before the tool fails', () => {
    const types = chunksFor({ capabilities: cannotAsk }, nobodyAsked).map(({ type }) => type);
    expect(types.slice(-2)).toEqual(['data-tool-auth-required', 'tool-output-error']);
  });

  test('is told the same when somebody else is being asked, and not again when that has an end', () => {
    const turn = askedElsewhere([['c1', 'tracker__list_issues']], 'list_issues');
    const chunks = chunksFor({ capabilities: cannotAsk }, turn);
    const [notice, ...others] = noticesIn(chunks);
    expect(others).toEqual([]);
    expect(notice).toMatchObject({
      id: 'c1',
      data: { server: 'tracker', serverTitle: 'Tracker', toolName: 'tracker__list_issues' },
    });
    expect(notice?.data).toMatchObject({
      message: expect.stringMatching(/^Tracker needs your account to list issues\. .*open this conversation/),
      url: 'https://interlude.example/connections',
    });
    expect(JSON.stringify(chunks)).not.toContain('/auth/connect');
  });

  test.each<[what: string, calls: [string, string][], tool: string | undefined, id: string]>([
    [
      'the tool itself',
      [
        ['c1', 'tracker__count'],
        ['c2', 'tracker__list'],
      ],
      'list',
      'c2',
    ],
    [
      'the tool that stands for its server',
      [
        ['c1', 'wiki__find'],
        ['c2', 'connect_tracker'],
      ],
      undefined,
      'c2',
    ],
    [
      'a tool whose name was changed for the model',
      [['c1', 'tracker__list_issues_1f00ba11']],
      'list/issues',
      'c1',
    ],
    [
      'the first of two',
      [
        ['c1', 'tracker__list'],
        ['c2', 'tracker__list'],
      ],
      'list',
      'c1',
    ],
    ['nothing that can be told, so it stands by itself', [['c1', 'wiki__find']], 'list', 'e1'],
  ])('finds the call that waits: %s', (_, calls, tool, id) => {
    const notices = noticesIn(chunksFor({ capabilities: cannotAsk }, askedElsewhere(calls, tool)));
    expect(notices.map((notice) => notice.id)).toEqual([id]);
  });

  test('does not find it among calls that are over', () => {
    const [start, step, ...rest] = askedElsewhere([['c2', 'tracker__list']], 'list');
    const over: TurnEvent[] = [
      toolCall('c1', 'tracker__list'),
      { type: 'tool-output-available', toolCallId: 'c1', toolName: 'tracker__list', output: {} },
    ];
    const notices = noticesIn(chunksFor({ capabilities: cannotAsk }, [start!, step!, ...over, ...rest]));
    expect(notices.map(({ id }) => id)).toEqual(['c2']);
  });

  test('is told nothing of questions that are not about an account', () => {
    const page = accountQuestion('pending');
    const other: TurnEvent = { ...page, context: { ...page.context, trigger: 'mcp_elicitation' } };
    expect(chunksFor({ capabilities: cannotAsk }, [other])).toEqual([]);
  });
});

test('a reader that can be asked sees the question instead of a notice, and a notice where nobody is asked', () => {
  const chunks = chunksFor({ capabilities: canAsk }, askedElsewhere([['c1', 'tracker__list_issues']]));
  expect(noticesIn(chunks)).toEqual([]);
  expect(noticesIn(chunksFor({ capabilities: canAsk }, nobodyAsked))).toHaveLength(1);
  expect(chunks.length).toBeGreaterThan(3);
});
