/**
 * Programs that nobody here wrote call an agent, and the question ends in every way in which one can end. Each is used as
 * its documentation shows it, with the versions that the lockfile and this folder pin.
 */
import { describe, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form, page } from '../../servers/scripted-mcp-server.ts';
import { asking, opening, skipWhere, unable } from './all-clients.ts';
import type { Row } from './all-clients.ts';
import type { UserAnswer } from './other-client.ts';

const setup = useAskingService();
const open = opening(() => setup.service);
const message = 'call asking__ask {}';
const cities = { city: { type: 'string', minLength: 2 } };
const lisbon: UserAnswer = { action: 'accept', content: { city: 'Lisbon' } };

const answered = () => setup.server.calls[1]?.params.inputResponses;

describe.each(asking)('$name', { timeout: 120_000 }, ({ start, missing, checksAnswers }) => {
  skipWhere(missing);

  test.each<UserAnswer>([lisbon, { action: 'decline' }, { action: 'cancel' }])(
    '$action is what the server is told',
    async (given) => {
      setup.server.play(asks({ city: form('Which city?', cities) }));
      await using client = await open(start, [() => given]);
      expect(await client.call('ask_assistant', { message })).toMatchObject({
        text: expect.stringMatching(/^done\n/),
      });
      expect(client.asked).toMatchObject([{ mode: 'form', message: expect.stringContaining('Which city?') }]);
      expect(answered()).toEqual({ city: given });
    },
  );

  test.skipIf(checksAnswers)('what does not fit is asked again', async () => {
    setup.server.play(asks({ city: form('Which city?', cities) }));
    await using client = await open(start, [
      () => ({ action: 'accept', content: { city: 'L' } }),
      () => lisbon,
    ]);
    expect(await client.call('ask_assistant', { message })).toMatchObject({
      text: expect.stringMatching(/^done\n/),
    });
    expect(client.asked[1]?.message).toContain('Please answer again: city: ');
    expect(answered()).toEqual({ city: lisbon });
  });

  test('the same question is answered in another place', async () => {
    setup.server.play(asks({ city: form('Which city?', cities) }));
    await using client = await open(start, [
      async () => {
        const [question] = await openQuestions();
        await setup.alice.request('POST', '/run/api/elicitation-responses', {
          ...question,
          action: 'accept',
          content: { city: 'Porto' },
        });
        return lisbon;
      },
    ]);
    expect(await client.call('ask_assistant', { message })).toMatchObject({
      text: expect.stringContaining('done\n'),
    });
    expect(answered()).toEqual({ city: { action: 'accept', content: { city: 'Porto' } } });
  });
});

describe.each(asking.filter(({ showsNoLinks }) => !showsNoLinks))(
  '$name, asked for a link',
  { timeout: 120_000 },
  ({ start, missing }) => {
    skipWhere(missing);
    test.each<UserAnswer>([{ action: 'accept' }, { action: 'decline' }, { action: 'cancel' }])(
      '$action',
      async (given) => {
        setup.server.play(asks({ there: page('https://example.com/a') }));
        await using client = await open(start, [() => given]);
        expect(await client.call('ask_assistant', { message })).toMatchObject({
          text: expect.stringMatching(/^done\n/),
        });
        expect(client.asked).toMatchObject([{ mode: 'url', url: 'https://example.com/a' }]);
        expect(answered()).toEqual({ there: given });
      },
    );
  },
);

describe.each(asking.filter(({ showsNoLinks }) => showsNoLinks))(
  '$name, which knows forms only',
  { timeout: 120_000 },
  ({ start }) => {
    test.each(['accept', 'decline', 'cancel'])('a link goes to its model: %s', async (action) => {
      setup.server.play(asks({ there: page('https://example.com/a') }));
      await using client = await open(start, [], { form: true });
      const { text, elicitId } = await client.call('ask_assistant', { message });
      expect(text).toContain('https://example.com/a');
      await client.call('sendElicitationResult', { elicitId, action });
      expect(answered()).toEqual({ there: { action } });
    });
  },
);

describe('a program that fails to ask has answered nothing', { timeout: 120_000 }, () => {
  const fails = () => Promise.reject(new Error('no window'));
  const missingIn = async ({ missing }: Row, skip: (why: string) => void) => {
    const why = await missing?.();
    if (why !== undefined) skip(why);
  };

  test.for(
    asking.filter(({ whenUnable, callsListedTools }) => whenUnable === 'in words' && !callsListedTools),
  )('$name is given the question in words', async (row, { skip }) => {
    await missingIn(row, skip);
    setup.server.play(asks({ city: form('Which city?', cities) }));
    await using client = await open(row.start, [fails]);
    const { elicitId } = await client.call('ask_assistant', { message });
    const ended = await client.call('sendElicitationResult', { elicitId, ...lisbon });
    expect(ended.text).toMatch(/^done\n/);
    expect(answered()).toEqual({ city: lisbon });
  });

  test.for(asking.filter(({ whenUnable }) => whenUnable === 'gives up'))(
    '$name gives the call up, and the question stays open',
    async (row, { skip }) => {
      await missingIn(row, skip);
      setup.server.play(asks({ city: form('Which city?', cities) }));
      await using client = await open(row.start, [fails]);
      const before = await openQuestions();
      await expect(client.call('ask_assistant', { message })).rejects.toThrow(/./);
      expect(setup.server.calls).toHaveLength(1);
      expect(await openQuestions()).toHaveLength(before.length + 1);
    },
  );
});

describe.each(unable)('$name, which declares nothing', { timeout: 120_000 }, ({ start, missing }) => {
  skipWhere(missing);

  test('its model is given the questions, one after the other', async () => {
    setup.server.play(
      asks({ city: form('Which city?', cities) }),
      asks({ there: page('https://example.com/a') }),
    );
    await using client = await open(start, [], {});
    const first = await client.call('ask_assistant', { message });
    expect(first.text).toContain('Which city?');
    const send = (elicitId: string | undefined, answer: UserAnswer) =>
      client.call('sendElicitationResult', { elicitId, ...answer });
    const misfit = await send(first.elicitId, { action: 'accept', content: { city: 'L' } });
    expect(misfit.text).toContain('Please answer again: city: ');
    const second = await send(first.elicitId, lisbon);
    expect(second.text).toContain('https://example.com/a');
    expect((await send(second.elicitId, { action: 'accept' })).text).toMatch(/^done\n/);
    expect(client.asked).toEqual([]);
  });
});

const openQuestions = async () =>
  (await setup.service.storage.elicitations.openOf({ tenant: 'demo', user: 'alice' })).map(
    ({ id, conversation }) => ({ elicitationId: id, conversationId: conversation }),
  );
