/** What goes to the service, and what is made of what comes back: pure. */
import { InvalidArgumentError, InvalidPromptError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { createPartTranslator, createWholeTranslator, toContent } from '../../src/ai-sdk/parts.ts';
import type { AgentPart } from '../../src/ai-sdk/parts.ts';
import { callOptionsOf, fromPrompt, warningsFor } from '../../src/ai-sdk/call.ts';
import type { InterludeCallOptions } from '../../src/ai-sdk/call.ts';
import { createNaming } from '../../src/ai-sdk/open-turn.ts';
import { seenEnd, toFinishReason } from '../../src/ai-sdk/turn-end.ts';
import {
  toPartV4 as toPart4,
  toPartsV2 as toParts2,
  toPartsV3 as toParts3,
} from '../../src/ai-sdk/versions.ts';
import { foldChunk, newFold } from '../../src/turn-view.ts';
import type { TurnView } from '../../src/turn-view.ts';
import { question, wholeTurn } from '../stream-server.ts';

const user = (...texts: string[]): LanguageModelV4Prompt[number] => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
});
const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } } as const;

/** Each view of a turn that says this, in order. */
function viewsOf(chunks: object[]): TurnView[] {
  let fold = newFold('c1', 'turn-1');
  return chunks.map((chunk) => (fold = foldChunk(fold, { ...chunk })).view);
}

function partsOf(views: TurnView[]): AgentPart[] {
  const { toParts, toEnds } = createPartTranslator();
  return [...views.flatMap(toParts), ...toEnds()];
}

describe('a prompt', () => {
  test('is its last message, and the text of what was said before', () => {
    const prompt: LanguageModelV4Prompt = [
      { role: 'system', content: 'Be brief.' },
      user('Hello', 'there'),
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Good day.' },
          { type: 'custom', kind: 'interlude.elicitation-request' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'weather',
            output: { type: 'text', value: 'Sun' },
          },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c2', toolName: 'weather', input: {} }],
      },
      user('And now?'),
    ];
    expect(fromPrompt({ prompt }, false)).toEqual({
      text: 'And now?',
      earlier: [
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'Hello\n\nthere' },
        { role: 'assistant', text: 'Good day.' },
      ],
    });
    expect(fromPrompt({ prompt }, true)).toEqual({ text: 'And now?', earlier: [] });
  });

  test.each([
    ['an empty one', [], InvalidPromptError, 'last message'],
    [
      'one that ends with the agent',
      [user('Hi'), { role: 'assistant', content: [] }],
      InvalidPromptError,
      'user’s',
    ],
    ['one without words', [user(' ')], InvalidPromptError, 'no text'],
    [
      'one with a file that is no image',
      [{ role: 'user', content: [{ ...file, mediaType: 'application/pdf' }] }],
      UnsupportedFunctionalityError,
      'application/pdf',
    ],
    [
      'one with the address of an image',
      [
        {
          role: 'user',
          content: [{ ...file, data: { type: 'url', url: new URL('https://x.example/a.png') } }],
        },
      ],
      UnsupportedFunctionalityError,
      'not as addresses',
    ],
    [
      'one with a file in its past',
      [{ role: 'assistant', content: [file] }, user('Hi')],
      UnsupportedFunctionalityError,
      'image/png',
    ],
  ] as [string, LanguageModelV4Prompt, new (...args: never[]) => Error, string][])(
    '%s is refused in words',
    (_, prompt, Class, words) => {
      const attempt = () => fromPrompt({ prompt }, false);
      expect(attempt).toThrow(Class);
      expect(attempt).toThrow(words);
    },
  );

  test('has images of the user, in whatever form the SDK brings their bytes', () => {
    const { mediaType } = file;
    const told = { images: ['data:image/png;base64,AA=='] };
    for (const data of [
      file.data,
      { type: 'data', data: new Uint8Array([0]) },
      'AA==',
      new Uint8Array([0]),
    ]) {
      const prompt = [
        { role: 'user', content: [{ type: 'file', mediaType, data }] },
      ] as LanguageModelV4Prompt;
      expect(fromPrompt({ prompt }, false)).toEqual({ text: '', ...told, earlier: [] });
      expect(fromPrompt({ prompt: [...prompt, user('Hi')] }, false).earlier).toEqual([
        { role: 'user', text: '', ...told },
      ]);
    }
  });

  test('what is stored is not looked at: only the last message counts there', () => {
    const prompt: LanguageModelV4Prompt = [{ role: 'user', content: [file] }, user('Hi')];
    expect(fromPrompt({ prompt }, true)).toEqual({ text: 'Hi', earlier: [] });
  });
});

describe('options of a call', () => {
  const read = (interlude: unknown) =>
    callOptionsOf({ prompt: [], providerOptions: { interlude: interlude as Record<string, string> } });

  test('are taken as they are', () => {
    const given: InterludeCallOptions = {
      conversationId: 'c-1',
      messageId: 'm:1',
      idempotencyKey: 'any words, ü',
      onBusy: 'cancel',
    };
    expect(read(given)).toEqual(given);
    expect(callOptionsOf({ prompt: [] })).toEqual({});
    expect(callOptionsOf({ prompt: [], providerOptions: { openai: { user: 'x' } } })).toEqual({});
  });

  test.each([
    ['conversationId', ''],
    ['conversationId', 'a/b'],
    ['conversationId', 'x'.repeat(129)],
    ['conversationId', 7],
    ['conversationId', null],
    ['messageId', 'a b'],
    ['idempotencyKey', ''],
    ['idempotencyKey', 'x'.repeat(256)],
    ['onBusy', 'queue'],
    ['conversation', 'c-1'],
    ['toString', 'c-1'],
    ['onElicitation', true],
  ])('%s: %j is refused by its name', (name, value) => {
    const attempt = () => read({ [name]: value });
    expect(attempt).toThrow(InvalidArgumentError);
    expect(attempt).toThrow(`providerOptions.interlude.${name}`);
  });
});

describe('settings', () => {
  const prompt = [user('Hi')];
  test.each<[string, Partial<LanguageModelV4CallOptions>, string[]]>([
    ['nothing', {}, []],
    [
      'what the SDK adds by itself',
      {
        headers: { 'user-agent': 'ai' },
        tools: [],
        toolChoice: { type: 'auto' },
        reasoning: 'provider-default',
      },
      [],
    ],
    [
      'numbers, also zero',
      { temperature: 0, topP: 1, topK: 2, seed: 0, maxOutputTokens: 5 },
      ['maxOutputTokens', 'temperature', 'topP', 'topK', 'seed'],
    ],
    [
      'penalties and stops',
      { presencePenalty: 1, frequencyPenalty: 1, stopSequences: ['.'] },
      ['stopSequences', 'presencePenalty', 'frequencyPenalty'],
    ],
    ['tools', { tools: [{ type: 'function', name: 'weather', inputSchema: {} }] }, ['tools']],
    ['JSON', { responseFormat: { type: 'json' } }, ['responseFormat']],
    ['effort', { reasoning: 'high' }, ['reasoning']],
    ['instructions', { prompt: [{ role: 'system', content: 'Be brief.' }, ...prompt] }, ['system message']],
  ])('%s', (_, call, features) => {
    expect(warningsFor({ prompt, ...call }, false).map(({ feature }) => feature)).toEqual(features);
  });
});

describe('a turn', () => {
  const views = viewsOf(wholeTurn);
  const elicitation = (status: string) => ({
    type: 'elicitation',
    elicitation: expect.objectContaining({ elicitationId: 'q1', conversationId: 'c1', status }) as unknown,
  });
  const whole = [
    { type: 'text-start', id: 't1' },
    { type: 'text-delta', id: 't1', delta: 'Let me ' },
    { type: 'text-delta', id: 't1', delta: 'look – gleich, 見て 👀.' },
    { type: 'text-end', id: 't1' },
    elicitation('pending'),
    elicitation('accept'),
    { type: 'text-start', id: 't2' },
    { type: 'text-delta', id: 't2', delta: '\n\nThree issues:\n' },
    { type: 'text-delta', id: 't2', delta: '- one\n- two\n- three' },
    { type: 'text-end', id: 't2' },
  ];

  test('becomes one part for each thing it says; later words are a paragraph of their own, tools stay out', () => {
    expect(partsOf(views)).toEqual(whole);
  });

  test('says the same in the end, whichever of its views are seen', () => {
    const said = (parts: AgentPart[]) =>
      toContent(parts).map((part) => (part.type === 'elicitation' ? part.elicitation.status : part));
    const expected = said(partsOf(views));
    expect(expected).toEqual([
      { type: 'text', text: 'Let me look – gleich, 見て 👀.' },
      'accept',
      { type: 'text', text: '\n\nThree issues:\n- one\n- two\n- three' },
    ]);
    for (let left = 0; left < views.length - 1; left += 1)
      expect(said(partsOf(views.filter((_, index) => index !== left)))).toEqual(expected);
    expect(said(partsOf(views.slice(-1)))).toEqual(expected);
    expect(said(partsOf(views.flatMap((view) => [view, view])))).toEqual(expected);
  });

  const reset = [
    { type: 'start-step' },
    { type: 'text-start', id: 't1' },
    { type: 'text-delta', id: 't1', delta: 'Half a sen' },
    { type: 'reset-step' },
    { type: 'text-start', id: 't2' },
    { type: 'text-delta', id: 't2', delta: 'A whole sentence.' },
    { type: 'text-end', id: 't2' },
    { type: 'finish' },
  ];

  test('closes what its model took back with a mark, and says the rest apart from it', () => {
    expect(partsOf(viewsOf(reset))).toEqual([
      { type: 'text-start', id: 't1' },
      { type: 'text-delta', id: 't1', delta: 'Half a sen' },
      { type: 'text-end', id: 't1', providerMetadata: { interlude: { void: true } } },
      { type: 'text-start', id: 't2' },
      { type: 'text-delta', id: 't2', delta: '\n\nA whole sentence.' },
      { type: 'text-end', id: 't2' },
    ]);
  });

  test('has nothing of that in an answer that is read whole', () => {
    const { toParts, toEnds } = createWholeTranslator();
    const parts = [...viewsOf(reset).flatMap(toParts), ...toEnds()];
    expect(toContent(parts)).toEqual([{ type: 'text', text: 'A whole sentence.' }]);
  });

  test('that is not followed to its end closes what it opened', () => {
    const chunks = [
      { type: 'reasoning-start', id: 'r1' },
      { type: 'reasoning-delta', id: 'r1', delta: 'Hm' },
      { type: 'text-start', id: 'r1' },
    ];
    expect(partsOf(viewsOf(chunks))).toEqual([
      { type: 'reasoning-start', id: 'r1' },
      { type: 'reasoning-delta', id: 'r1', delta: 'Hm' },
      { type: 'text-start', id: 'r1' },
      { type: 'reasoning-end', id: 'r1' },
      { type: 'text-end', id: 'r1' },
    ]);
  });

  test.each([
    [{ status: 'completed' }, 'stop', 'completed'],
    [{ status: 'completed', finish: 'length' }, 'length', 'length'],
    [{ status: 'completed', finish: 'refused' }, 'content-filter', 'refused'],
    [{ status: 'completed', finish: 'something new' }, 'stop', 'something new'],
    [{ status: 'failed' }, 'error', 'failed'],
    [{ status: 'failed', error: { code: 'NoModel', errorText: 'No model.' } }, 'error', 'NoModel'],
    [{ status: 'cancelled' }, 'other', 'cancelled'],
    [{ status: 'superseded' }, 'other', 'superseded'],
    [{ status: 'unknown' }, 'other', 'unknown'],
    [{ status: 'lost' }, 'error', 'lost'],
  ] as const)('that ended as %j is finished as %s', (end, unified, raw) => {
    expect(toFinishReason(end)).toEqual({ unified, raw });
  });

  test.each([
    [[{ type: 'finish' }], { status: 'completed' }],
    [[{ type: 'abort' }], { status: 'cancelled' }],
    [
      [{ type: 'error', errorText: 'No model.' }, { type: 'finish' }],
      { status: 'failed', error: { code: 'turn_failed', errorText: 'No model.' } },
    ],
    [[], { status: 'unknown' }],
  ])('whose last chunks are %j ended as far as could be seen', (chunks, end) => {
    const last = viewsOf([{ type: 'start' }, ...chunks]).at(-1);
    expect(last && seenEnd(last)).toEqual(end);
  });
});

describe('a question', () => {
  const [part] = partsOf(viewsOf([question('pending')]));
  const elicitation = expect.objectContaining({ elicitationId: 'q1', status: 'pending' }) as unknown;

  test('is a part of ours from version 4 of the interface on', () => {
    expect(part && toPart4(part)).toEqual({
      type: 'custom',
      kind: 'interlude.elicitation-request',
      providerMetadata: { interlude: elicitation },
    });
  });

  test.each([
    [2, toParts2],
    [3, toParts3],
  ])('is a raw chunk in version %i, for who asks for those', (_, toParts) => {
    expect(part && toParts(part, true)).toEqual([{ type: 'raw', rawValue: elicitation }]);
    expect(part && toParts(part, false)).toEqual([]);
  });
});

test('version 2 says in its own words what the others say', () => {
  const warnings = warningsFor(
    { prompt: [{ role: 'system', content: 'Be brief.' }, user('Hi')], seed: 1 },
    true,
  );
  const tokens = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const finish: AgentPart = {
    type: 'finish',
    finishReason: { unified: 'length', raw: 'length' },
    usage: {
      inputTokens: { total: 3, ...tokens },
      outputTokens: { total: 4, text: undefined, reasoning: undefined },
    },
    providerMetadata: { interlude: { conversationId: 'c1', turnId: 'turn-1', status: 'completed' } },
  };
  expect(toParts2({ type: 'stream-start', warnings }, false)).toEqual([
    {
      type: 'stream-start',
      warnings: [
        { type: 'unsupported-setting', setting: 'seed', details: expect.any(String) },
        { type: 'other', message: expect.stringContaining('system message') },
      ],
    },
  ]);
  expect(toParts2(finish, false)).toEqual([
    { ...finish, finishReason: 'length', usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } },
  ]);
  const unknown = { ...finish.usage, outputTokens: { ...finish.usage.outputTokens, total: undefined } };
  expect(toParts2({ ...finish, usage: unknown }, false)).toMatchObject([
    { usage: { inputTokens: 3, outputTokens: undefined, totalTokens: undefined } },
  ]);
});

describe('the names of a call', () => {
  test('are the caller’s where it gives any, and new ones otherwise', async () => {
    const { nameCall } = createNaming();
    expect(await nameCall('hello', { conversationId: 'c', messageId: 'm' })).toEqual({ messageId: 'm' });
    const [one, other] = [await nameCall('hello', {}), await nameCall('hello', {})];
    expect(one.messageId).not.toBe(other.messageId);
    expect(one.idempotencyKey).not.toBe(other.idempotencyKey);
    expect(await nameCall('hello', { conversationId: 'c' })).toEqual({
      messageId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  test('under one key, the message is always the same', async () => {
    const given = { idempotencyKey: 'a key, ü' };
    const first = await createNaming().nameCall('hello', given);
    expect(first).toEqual({ messageId: expect.stringMatching(/^[0-9a-f]{64}$/), ...given });
    expect(await createNaming().nameCall('hello', given)).toEqual(first);
    expect(await createNaming().nameCall('hello', { idempotencyKey: 'another' })).not.toEqual(first);
  });

  test('are kept for a call that comes again, once, and not for long', async () => {
    let now = 0;
    const { nameCall, willRepeat } = createNaming(() => now);
    const names = await nameCall('hello', {});
    willRepeat('hello', names);
    expect(await nameCall('goodbye', {})).not.toEqual(names);
    expect(await nameCall('hello', {})).toEqual(names);
    expect(await nameCall('hello', {})).not.toEqual(names);
    const others = await nameCall('hello', {});
    for (const known of [names, others]) willRepeat('hello', known);
    expect([await nameCall('hello', {}), await nameCall('hello', {})]).toEqual([names, others]);
    willRepeat('hello', names);
    now = 10_000;
    expect(await nameCall('hello', {})).not.toEqual(names);
  });
});
