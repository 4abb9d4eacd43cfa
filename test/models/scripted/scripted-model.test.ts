import { jsonSchema, streamText } from 'ai';
import type { ModelMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { createScriptedModel } from '../../../src/models/scripted/scripted-model.ts';
import { defineScript } from '../../../src/models/scripted/script.ts';
import type { Conversation, Rule } from '../../../src/models/scripted/script.ts';
import { toolRule } from '../../../src/models/scripted/tool-rule.ts';

const schema = jsonSchema({ type: 'object' });

async function ask(rules: Rule[], messages: ModelMessage[], tools: string[] = [], signal?: AbortSignal) {
  const result = streamText({
    model: createScriptedModel(defineScript(rules, { wordDelayMs: 0 })),
    messages,
    tools: Object.fromEntries(tools.map((name) => [name, { description: name, inputSchema: schema }])),
    ...(signal && { abortSignal: signal }),
  });
  const deltas: string[] = [];
  const calls: { toolCallId: string; toolName: string; input: unknown }[] = [];
  for await (const part of result.stream) {
    if (part.type === 'text-delta') deltas.push(part.text);
    if (part.type === 'tool-call') {
      calls.push({ toolCallId: part.toolCallId, toolName: part.toolName, input: part.input });
    }
  }
  return { deltas, calls, finish: await result.finishReason, usage: await result.usage };
}

const user = (content: string): ModelMessage => ({ role: 'user', content });
type Output = Extract<ModelMessage, { role: 'tool' }>['content'][number] & { type: 'tool-result' };

function called(
  toolName: string,
  input: unknown,
  output: Output['output'],
  toolCallId = 'call_1',
): ModelMessage[] {
  return [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] },
  ];
}
const text = (value: string): Output['output'] => ({
  type: 'content',
  value: [{ type: 'text', text: value }],
});
const error = (value: string): Output['output'] => ({ type: 'error-text', value });

test('words are streamed one by one and counted', async () => {
  const answer = await ask([() => ({ say: 'All is well.\n\nTruly.' })], [user('How are you?')]);
  expect(answer.deltas).toEqual(['All ', 'is ', 'well.\n\n', 'Truly.']);
  expect(answer.finish).toBe('stop');
  expect(answer.usage.outputTokens).toBe(4);
  expect(answer.usage.inputTokens).toBeGreaterThan(0);
});

test('the same conversation gets the same answer, call ids included', async () => {
  const rules: Rule[] = [
    () => ({ say: 'One moment.', calls: [{ tool: 'a' }, { tool: 'b', input: { x: 1 } }] }),
  ];
  const history = [user('one'), ...called('a', {}, text('done'), 'call_1'), user('two')];
  const first = await ask(rules, history, ['a', 'b']);
  expect(first.calls).toEqual([
    { toolCallId: 'call_2', toolName: 'a', input: {} },
    { toolCallId: 'call_3', toolName: 'b', input: { x: 1 } },
  ]);
  expect(first.finish).toBe('tool-calls');
  expect(await ask(rules, history, ['a', 'b'])).toEqual(first);
});

test('rules see the last question and what tools answered since', async () => {
  let seen: Conversation | undefined;
  const spy: Rule = (conversation) => {
    seen = conversation;
    return { say: 'ok' };
  };
  const history = [
    user('old'),
    ...called('a', {}, text('old result'), 'call_1'),
    user('new'),
    ...called('a', { n: 1 }, text('{"found":2}'), 'call_2'),
    ...called('b', {}, error('broken'), 'call_3'),
  ];
  await ask([() => null, spy], history, ['a', 'b']);
  expect(seen).toEqual({
    userText: 'new',
    images: [],
    tools: ['a', 'b'],
    outcomes: [
      { tool: 'a', input: { n: 1 }, ok: true, text: '{"found":2}', data: { found: 2 } },
      { tool: 'b', input: {}, ok: false, text: 'broken', data: null },
    ],
  });
});

test('a script without an answer says so', async () => {
  expect((await ask([], [user('hm')])).deltas.join('')).toBe('My script has no answer to that.');
});

test('an aborted answer stops between two words', async () => {
  const stop = new AbortController();
  const result = streamText({
    model: createScriptedModel(defineScript([() => ({ say: 'one two three' })], { wordDelayMs: 5 })),
    messages: [user('count')],
    abortSignal: stop.signal,
  });
  const seen: string[] = [];
  for await (const part of result.stream) {
    if (part.type === 'text-delta') {
      seen.push(part.text);
      stop.abort();
    } else if (part.type === 'abort') seen.push('abort');
  }
  expect(seen).toEqual(['one ', 'abort']);
});

describe('a rule with tools', () => {
  const rule = toolRule({
    when: /list (\w+)(?: and (\w+))?/,
    calls: ([, ...states]) =>
      states.flatMap((state) => (state ? [{ tool: 'tracker__list', input: { state } }] : [])),
    answer: (outcomes) => outcomes.map((outcome) => outcome.text).join(' & '),
  });
  const says = async (messages: ModelMessage[], tools: string[]) => {
    const { deltas, calls } = await ask([rule], messages, tools);
    return calls.length > 0 ? calls.map(({ toolName, input }) => [toolName, input]) : deltas.join('');
  };
  const real = ['tracker__list'];
  const unknown = ['connect_tracker'];

  test('calls what is on offer, in parallel', async () => {
    expect(await says([user('list open and closed')], real)).toEqual([
      ['tracker__list', { state: 'open' }],
      ['tracker__list', { state: 'closed' }],
    ]);
  });

  test('answers with the results in the order of its calls', async () => {
    const history = [
      user('list open and closed'),
      ...called('tracker__list', { state: 'closed' }, text('C'), 'call_2'),
      ...called('tracker__list', { state: 'open' }, text('O'), 'call_1'),
    ];
    expect(await says(history, real)).toBe('O & C');
  });

  test('connects first where the tools are not known, once', async () => {
    expect(await says([user('list open and closed')], unknown)).toEqual([['connect_tracker', {}]]);
  });

  test('goes on with the real tool once it is connected', async () => {
    const history = [user('list open'), ...called('connect_tracker', {}, text('Tracker is connected.'))];
    expect(await says(history, real)).toEqual([['tracker__list', { state: 'open' }]]);
  });

  test('does not connect forever when the tool never appears', async () => {
    const history = [user('list open'), ...called('connect_tracker', {}, text('Tracker is connected.'))];
    expect(await says(history, unknown)).toBe('I have no tool called tracker__list.');
  });

  test('says so when there is nothing to do it with', async () => {
    expect(await says([user('list open')], [])).toBe('I have no tool called tracker__list.');
  });

  test('tells the user what went wrong, once', async () => {
    const history = [
      user('list open and closed'),
      ...called('tracker__list', { state: 'open' }, error('Tracker is on fire.'), 'call_1'),
      ...called('tracker__list', { state: 'closed' }, error('Tracker is on fire.'), 'call_2'),
    ];
    expect(await says(history, real)).toBe('Sorry, that did not work. Tracker is on fire.');
  });

  test('leaves what it does not understand to the next rule', async () => {
    const { deltas } = await ask([rule, () => ({ say: 'next' })], [user('hello')]);
    expect(deltas).toEqual(['next']);
  });
});
