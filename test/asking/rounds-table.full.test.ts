/**
 * The rules M1 to M22 for whoever is asked by servers of the new era, on the final wire of 2026-07-28: each as the
 * whole service keeps it, seen from the server.
 */
import { describe, expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import { loadConfig } from '../../src/platform/config/load-config.ts';
import { asks, done, form, page } from '../servers/scripted-mcp-server.ts';
import type { CallMessage } from '../servers/scripted-mcp-server.ts';
import { answerError } from '../servers/raw-mcp-server.ts';
import { accept, city, roundsAgents, useAskingService } from './asking-service.ts';

const setup = useAskingService();
const { begin } = setup;
const params = (n: number): CallMessage['params'] => {
  const call = setup.server.calls[n];
  if (!call) throw new Error(`The server was not called ${n + 1} times.`);
  return call.params;
};
const city1 = { city: form('Which city?') };

const rules: Record<string, [rule: string, check: () => Promise<void> | void]> = {
  M1: [
    'what makes it a question is `resultType`, with at least one of the two fields',
    async () => {
      const both = await begin([asks(city1, 's')]);
      await both.answer(0, city());
      expect(await both.end()).toMatchObject({ text: 'done' });
      // The fields alone ask nothing, where the type says that the call is complete.
      const complete = await begin([{ ...asks(city1, 's'), ...done('as it is') }]);
      expect(await complete.end()).toMatchObject({ text: 'as it is', questions: [] });
      const neither = await begin([asks(undefined)]);
      expect((await neither.end()).error).toContain('neither inputRequests nor requestState');
    },
  ],
  M2: [
    'an empty map with a state asks nobody: the call is made again, a little later, and counts as a round',
    async () => {
      const turn = await begin([asks({}, 's1'), asks(undefined, 's2')]);
      expect(await turn.end()).toMatchObject({ text: 'done', questions: [] });
      expect(setup.server.calls.map(({ params: { requestState } }) => requestState)).toEqual([
        undefined,
        's1',
        's2',
      ]);
      expect(params(1)).not.toHaveProperty('inputResponses');
      expect(params(2)).not.toHaveProperty('inputResponses');

      const endless = await begin(Array.from({ length: 9 }, (_, n) => asks({}, `s${n}`)));
      expect((await endless.end()).error).toContain('it was given 5 rounds');
      expect(setup.server.calls).toHaveLength(6);
    },
  ],
  M3: [
    'without a state there is none in the repetition',
    async () => {
      const turn = await begin([asks(city1)]);
      await turn.answer(0, city());
      await turn.end();
      expect(params(1)).toHaveProperty('inputResponses');
      expect(params(1)).not.toHaveProperty('requestState');
    },
  ],
  M4: [
    'an empty state is none',
    async () => {
      const turn = await begin([asks(city1, '')]);
      await turn.answer(0, city());
      expect(await turn.end()).toMatchObject({ text: 'done' });
      expect(params(1)).not.toHaveProperty('requestState');
    },
  ],
  M5: [
    'a result of another type, and an error that looks like a question, end in a tool error',
    async () => {
      const other = await begin([{ ...asks(city1, 's'), resultType: 'input_demanded' }]);
      expect(await other.end()).toMatchObject({ error: expect.stringContaining('Asking'), questions: [] });
      const error = await begin([
        (message, response) =>
          answerError({ ...message, ...asks(city1, 's') }, response, -32602, 'no such city'),
      ]);
      expect(await error.end()).toMatchObject({
        error: expect.stringContaining('no such city'),
        questions: [],
      });
      expect(setup.server.calls).toHaveLength(1);
    },
  ],
  M6: [
    'answers go back in a map under the server’s own keys, beside the state',
    async () => {
      const turn = await begin([
        asks({ 'a/b ü': form('One'), '2': page('https://example.com/', 'Two') }, 'here'),
      ]);
      await turn.answerTo('One', city('Rome'));
      await turn.answerTo('Two', accept());
      await turn.end();
      const { inputResponses, requestState } = params(1);
      expect(requestState).toBe('here');
      expect(Object.keys(inputResponses ?? {}).toSorted()).toEqual(['2', 'a/b ü']);
      expect(inputResponses?.['2']).toEqual({ action: 'accept' });
      expect(inputResponses?.['a/b ü']).toEqual({ action: 'accept', content: { city: 'Rome' } });
    },
  ],
  M7: [
    'no request is optional, whatever it says of itself: what must be filled in, the form says',
    async () => {
      const schema = form(
        'Which city?',
        { city: { type: 'string' }, note: { type: 'string' } },
        { required: ['city'] },
      );
      const turn = await begin([asks({ city: { ...schema, required: false } })]);
      expect(await turn.answer(0, accept({ note: 'soon' }))).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '/content/city' }] },
      });
      await turn.answer(0, { action: 'decline' });
      await turn.end();
      expect(params(1).inputResponses).toEqual({ city: { action: 'decline' } });
    },
  ],
  M8: [
    'the call is not repeated before every question is answered, and a refusal is an answer',
    async () => {
      const turn = await begin([asks({ one: form('One'), two: form('Two'), three: form('Three') })]);
      await turn.answerTo('One', city());
      await turn.answerTo('Two', { action: 'decline' });
      expect(setup.server.calls).toHaveLength(1);
      await turn.answerTo('Three', { action: 'cancel' });
      await turn.end();
      expect(params(1).inputResponses).toEqual({
        one: { action: 'accept', content: { city: 'Lisbon' } },
        two: { action: 'decline' },
        three: { action: 'cancel' },
      });
    },
  ],
  M9: [
    'an optional field that is left alone is not in the content',
    async () => {
      const fields = { city: { type: 'string' }, nights: { type: 'integer' }, window: { type: 'boolean' } };
      const turn = await begin([asks({ city: form('Which city?', fields) })]);
      await turn.answer(0, city());
      await turn.end();
      expect(params(1).inputResponses).toEqual({ city: { action: 'accept', content: { city: 'Lisbon' } } });
    },
  ],
  M10: [
    'it is the same call again, to the letter, under another JSON-RPC id',
    async () => {
      const input = JSON.parse('{"loc":"SFO ☕","deep":[{"a":null}],"big":1e21,"":0}') as object;
      const turn = await begin([asks(city1, 's')], { input });
      await turn.answer(0, city());
      await turn.end();
      const [first, second] = setup.server.calls;
      const { inputResponses, requestState, ...rest } = params(1);
      expect(inputResponses).toBeDefined();
      expect(requestState).toBe('s');
      expect(JSON.stringify(rest.arguments)).toBe(JSON.stringify(input));
      expect(rest).toEqual(first?.params);
      expect(second?.method).toBe(first?.method);
      expect(second?.id).toBeDefined();
      expect(second?.id).not.toEqual(first?.id);
    },
  ],
  M12: [
    'one round: asked, answered, done',
    async () => {
      const turn = await begin([asks(city1, 's')]);
      expect(await turn.answer(0, city())).toMatchObject({ status: 200, body: { status: 'accept' } });
      expect(await turn.end()).toMatchObject({ text: 'done', questions: [{ status: 'accept' }] });
      expect(setup.server.calls).toHaveLength(2);
    },
  ],
  M13: [
    'after as many rounds as the configuration allows, the call ends in an error that says so',
    async () => {
      const turn = await begin(
        Array.from({ length: 9 }, (_, n) => asks({ city: form(`City ${n}?`) }, `s${n}`)),
      );
      for (let n = 0; n < 5; n++) await turn.answer(n, city());
      const { error, questions } = await turn.end();
      expect(error).toContain('Asking kept asking: it was given 5 rounds of answers');
      expect(questions).toHaveLength(5);
      expect(setup.server.calls).toHaveLength(6);
    },
  ],
  M14: [
    'a call that is simply answered asks nobody',
    async () => {
      const turn = await begin([done('at once')]);
      expect(await turn.end()).toMatchObject({ text: 'at once', questions: [] });
      expect(setup.server.calls).toHaveLength(1);
    },
  ],
  M15: [
    'each round carries its own answers and the newest state, and nothing of the rounds before',
    async () => {
      const turn = await begin([
        asks({ a: form('A') }, 's1'),
        asks({ b: form('B') }, 's2'),
        asks({ a: form('A again') }),
      ]);
      for (const [n, name] of ['Rome', 'Oslo', 'Bonn'].entries()) await turn.answer(n, city(name));
      expect(await turn.end()).toMatchObject({ text: 'done' });
      const rounds = setup.server.calls.map(({ params: { inputResponses, requestState } }) => ({
        inputResponses,
        requestState,
      }));
      expect(rounds).toEqual([
        { inputResponses: undefined, requestState: undefined },
        { inputResponses: { a: { action: 'accept', content: { city: 'Rome' } } }, requestState: 's1' },
        { inputResponses: { b: { action: 'accept', content: { city: 'Oslo' } } }, requestState: 's2' },
        { inputResponses: { a: { action: 'accept', content: { city: 'Bonn' } } }, requestState: undefined },
      ]);
    },
  ],
  M16: [
    'answers are held against the whole schema before they are sent',
    async () => {
      const fields = {
        nights: { type: 'integer', minimum: 1, maximum: 30 },
        email: { type: 'string', format: 'email' },
        class: { type: 'string', enum: ['economy', 'business'] },
      };
      const turn = await begin([asks({ trip: form('Your trip', fields, { required: ['nights'] }) })]);
      for (const [wrong, field] of [
        [{ nights: 31 }, 'nights'],
        [{ nights: 1.5 }, 'nights'],
        [{ nights: 2, email: 'alice' }, 'email'],
        [{ nights: 2, class: 'first' }, 'class'],
        [{}, 'nights'],
      ] as const) {
        const reply = await turn.answer(0, accept(wrong));
        expect(reply).toMatchObject({ status: 422, body: { errors: [{ pointer: `/content/${field}` }] } });
      }
      expect(setup.server.calls).toHaveLength(1);
      const content = { nights: 30, email: 'alice@example.com', class: 'business' };
      await turn.answer(0, accept(content));
      expect(await turn.end()).toMatchObject({ text: 'done' });
      expect(params(1).inputResponses).toEqual({ trip: { action: 'accept', content } });
    },
  ],
  M17: [
    'a program that answers is told what was wrong with its answer, and asked again',
    async () => {
      const fields = { nights: { type: 'integer' } };
      setup.server.play(asks({ trip: form('How many?', fields, { required: ['nights'] }) }));
      const token = await setup.service.token('alice');
      const client = createClient({ baseUrl: setup.service.baseUrl, token });
      const seen: unknown[] = [];
      const turn = client.start(
        { message: { text: 'call asking__ask' } },
        {
          onElicitation(_, { errors }) {
            seen.push(errors.map(({ pointer }) => pointer));
            const content = [{ nights: 'many' }, { unasked: 1 }, { nights: 3 }][seen.length - 1];
            return { action: 'accept', content: content ?? {} };
          },
        },
      );
      let status: string | undefined;
      for await (const view of turn) ({ status } = view);
      expect(status).toBe('completed');
      expect(seen).toEqual([[], ['/content/nights'], ['/content/nights', '/content/unasked']]);
      expect(params(1).inputResponses).toEqual({ trip: { action: 'accept', content: { nights: 3 } } });
    },
  ],
  M18: [
    'a program that answers sees who asks, in which tool, with which form; and answers by key, not by place',
    async () => {
      setup.server.play(asks({ z: form('Z'), a: form('A') }));
      const token = await setup.service.token('alice');
      const client = createClient({ baseUrl: setup.service.baseUrl, token });
      const turn = client.start(
        { message: { text: 'call asking__ask' } },
        {
          onElicitation({ message, mode, context, ...rest }) {
            expect({ mode, server: context.server, tool: context.toolName, ...rest }).toMatchObject({
              mode: 'form',
              server: 'asking',
              tool: 'ask',
              requestedSchema: { properties: { city: { type: 'string' } } },
            });
            return { action: 'accept', content: { city: `for ${message}` } };
          },
        },
      );
      for await (const view of turn) void view;
      expect(params(1).inputResponses).toEqual({
        a: { action: 'accept', content: { city: 'for A' } },
        z: { action: 'accept', content: { city: 'for Z' } },
      });
    },
  ],
  M19: [
    'a configuration that cannot work fails at the start, and not in the first round',
    () => {
      const load = () =>
        loadConfig({ INTERLUDE_CONFIG: roundsAgents, ASKING_URL: 'asking', ASKING_TIMEOUT: 'soon' }, '.');
      expect(load).toThrow(ConfigError);
      expect(load).toThrow(/servers\.asking\.url/);
      expect(load).toThrow(/servers\.asking\.timeout/);
    },
  ],
  M20: [
    'tasks are not offered, and a handle of one is an error',
    async () => {
      const task = {
        resultType: 'task',
        taskId: 't',
        status: 'working',
        createdAt: '',
        lastUpdatedAt: '',
        ttlMs: 1,
      };
      const turn = await begin([task]);
      expect((await turn.end()).error).toContain('Asking');
      const declared = params(0)._meta?.['io.modelcontextprotocol/clientCapabilities'];
      expect(declared).toEqual({ elicitation: { form: {}, url: {} } });
    },
  ],
  M21: [
    'each answer is on record with who gave it and which of the three it was, and without what it said',
    async () => {
      const turn = await begin([asks({ a: form('A'), b: form('B') })]);
      await turn.answerTo('A', city('Atlantis'));
      await turn.answerTo('B', { action: 'decline' });
      const { questions } = await turn.end();
      const { audit } = setup.service.storage;
      const records = await Promise.all(
        questions.map(({ elicitationId }) => audit.ofElicitation(elicitationId)),
      );
      expect(records.flat()).toHaveLength(2);
      for (const [message, detail] of [
        ['A', 'accept'],
        ['B', 'decline'],
      ]) {
        const record = records[questions.findIndex((question) => question.message === message)];
        expect(record).toMatchObject([{ actor: 'alice', action: 'answered', detail }]);
      }
      expect(JSON.stringify(records)).not.toContain('Atlantis');
    },
  ],
  M22: [
    'neither a question nor its answer is remembered for the next call',
    async () => {
      for (const name of ['Rome', 'Oslo']) {
        const turn = await begin([asks(city1)], { input: { same: true } });
        await turn.answer(0, city(name));
        await turn.end();
        expect(params(1).inputResponses).toEqual({ city: { action: 'accept', content: { city: name } } });
      }
    },
  ],
};

/** Nothing to assert. */
const missing: Record<string, string> = {
  M11: 'the parameters of a repetition are made in one place, from a record: there is no builder to hand a list or a text to',
};

test('every rule of the table is kept, or left out for a reason', () => {
  const all = Array.from({ length: 22 }, (_, n) => `M${n + 1}`);
  expect([...Object.keys(rules), ...Object.keys(missing)].toSorted()).toEqual(all.toSorted());
});

describe('rule', () => {
  test.each(Object.entries(rules).map(([name, [rule, check]]) => [name, rule, check] as const))(
    '%s: %s',
    async (_, __, check) => check(),
  );
});

describe('a server with the array shapes of a draft', () => {
  const list = [{ id: 'city', kind: 'string', description: 'What city?', required: true }];
  test.each([
    ['as the draft had it', { inputRequests: list, requestState: 't', description: 'Need the city.' }],
    ['beside an empty content', { inputRequests: list, requestState: 't', content: [] }],
    [
      'beside some content',
      { inputRequests: list, requestState: 't', content: [{ type: 'text', text: 'wait' }] },
    ],
    ['under the final type', { resultType: 'input_required', inputRequests: list, requestState: 't' }],
    ['with maps, but without a type', { inputRequests: { city: form('?') }, requestState: 't' }],
  ])('ends in an error that names it, %s', async (_, result) => {
    const turn = await begin([result]);
    const { error, questions } = await turn.end();
    expect(error).toMatch(/Asking .*could not be put to the user/);
    expect(error).toContain('inputRequests');
    expect(questions).toEqual([]);
    expect(setup.server.calls).toHaveLength(1);
  });
});
