/** Calls of Slack that go wrong while an answer grows: its text is there once. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Fault } from '../../servers/slack/chat.ts';
import { createAnswers } from './answers.ts';
import { useSlackService } from './slack-service.ts';
import { createTwoPartModel } from './two-part-model.ts';

type PlannedFault = [method: string, fault: Fault];

const model = await createTwoPartModel();
afterAll(() => model[Symbol.asyncDispose]());
const setup = await useSlackService({ env: model.env });
const { acme, chat } = setup;
const { ask } = createAnswers(setup);
acme.addUser('U1');

beforeEach(async () => {
  chat.streamsInChannels = true;
  await setup.link('U1', 'alice');
});

/** An answer whose second part comes once Slack was called by `shows` for the first one. It meets all of the faults, in order. */
async function answerWith(shows: string, faults: PlannedFault[]) {
  const left = [...faults];
  const isShown = Promise.withResolvers<void>();
  model.between = () => isShown.promise;
  chat.fault = ({ method }) => {
    if (method === shows) isShown.resolve();
    if (left[0]?.[0] !== method) return undefined;
    return left.shift()?.[1];
  };
  const answer = await ask('hello');
  expect(left).toEqual([]);
  expect(answer.result).toEqual({ status: 'delivered' });
  expect(chat.thread('C1', answer.ts).some(({ streamedSince }) => streamedSince !== null)).toBe(false);
  return answer;
}

test.each<[PlannedFault]>([
  [['chat.startStream', { kind: 'lost' }]],
  [['chat.startStream', { kind: 'down' }]],
  [['chat.startStream', { kind: 'limited', seconds: 0 }]],
  [['chat.startStream', { kind: 'refused', code: 'channel_type_not_supported' }]],
  [['chat.appendStream', { kind: 'lost' }]],
  [['chat.appendStream', { kind: 'down' }]],
  [['chat.appendStream', { kind: 'limited', seconds: 0 }]],
  [['chat.appendStream', { kind: 'refused', code: 'message_not_in_streaming_state' }]],
  [['chat.stopStream', { kind: 'lost' }]],
  [['chat.stopStream', { kind: 'refused', code: 'message_not_in_streaming_state' }]],
])('%j once: the text is there once', async (fault) => {
  const { ts } = await answerWith('chat.startStream', [fault]);
  expect(chat.texts('C1', ts).join('')).toBe('You said: hello');
});

describe('where Slack does not stream', () => {
  test.each<[PlannedFault[]]>([
    [[['chat.postMessage', { kind: 'lost' }]]],
    [[['chat.postMessage', { kind: 'down' }]]],
    [[['chat.postMessage', { kind: 'limited', seconds: 0 }]]],
    [[['chat.update', { kind: 'lost' }]]],
    [[['chat.update', { kind: 'down' }]]],
    [
      [
        ['chat.postMessage', { kind: 'lost' }],
        ['conversations.replies', { kind: 'down' }],
      ],
    ],
  ])('%j: the text is there once', async (faults) => {
    chat.streamsInChannels = false;
    const { ts } = await answerWith('chat.postMessage', faults);
    expect(chat.texts('C1', ts)).toEqual(['You said: hello']);
  });
});
