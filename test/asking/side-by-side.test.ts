/** Several calls that ask at the same time, and questions in the middle of another agent's task. */
import { expect, test } from 'vitest';
import { answer } from '../servers/raw-mcp-server.ts';
import { asks, done, form } from '../servers/scripted-mcp-server.ts';
import type { CallMessage, ScriptedReply } from '../servers/scripted-mcp-server.ts';
import { callOf } from '../service/asking.ts';
import { city, useAskingService } from './asking-service.ts';

const setup = useAskingService();
const { begin } = setup;

/** Two rounds for each call, distinguished by its argument. */
const twice: ScriptedReply = ({ params, ...message }: CallMessage, response) => {
  const { name } = params.arguments as { name: string };
  const { inputResponses, requestState } = params;
  const city = String(inputResponses?.['q']?.content?.['city']);
  const trail = requestState === undefined ? '' : `${requestState}${city},`;
  const isDone = trail.split(',').length === 3;
  const result = isDone ? done(`${name}: ${trail}`) : asks({ q: form(`${name} after "${trail}"`) }, trail);
  // An empty state would be none.
  const withState = trail === '' && !isDone ? asks({ q: form(`${name} first`) }, ' ') : result;
  answer(message as CallMessage, response, withState);
};

test('two calls of one step ask side by side, and are answered in any order', async () => {
  const turn = await begin([twice, twice, twice, twice, twice, twice], {
    text: callOf(['ask', { name: 'left' }], ['ask', { name: 'right' }]),
  });
  await turn.answerTo('right first', city('Oslo'));
  await turn.answerTo('right after " Oslo,"', city('Bonn'));
  await expect.poll(() => setup.server.calls.length).toBe(4);
  await turn.answerTo('left first', city('Rome'));
  await turn.answerTo('left after " Rome,"', city('Bari'));
  const { text, questions } = await turn.end();
  expect(text).toBe('left:  Rome,Bari,\nright:  Oslo,Bonn,');
  expect(questions).toHaveLength(4);
  expect(setup.server.calls).toHaveLength(6);
  const ids = setup.server.calls.map(({ params }) => params._meta?.['interlude/callId']);
  expect(new Set(ids).size).toBe(2);
});

test('one of two calls is refused, and the other goes on', async () => {
  const turn = await begin([twice, twice, twice, twice, twice, twice], {
    text: callOf(['ask', { name: 'left' }], ['ask', { name: 'right' }]),
  });
  await turn.answerTo('left first', { action: 'cancel' });
  await turn.answerTo('left after " undefined,"', { action: 'decline' });
  await turn.answerTo('right first', city('Oslo'));
  await turn.answerTo('right after " Oslo,"', city('Bonn'));
  expect((await turn.end()).text).toBe('left:  undefined,undefined,\nright:  Oslo,Bonn,');
  const actions = setup.server.calls.flatMap(
    ({ params: { inputResponses } }) => inputResponses?.['q']?.action ?? [],
  );
  expect(actions.toSorted()).toEqual(['accept', 'accept', 'cancel', 'decline']);
});

test('a server that asks in the middle of another agent’s task asks the same user, who sees on whose behalf', async () => {
  const turn = await begin([asks({ one: form('One') }, 's1'), asks({ two: form('Two') }, 's2')], {
    agentId: 'lead',
    text: 'ask the assistant to call asking__ask {"for":"lead"}',
  });
  expect(await turn.question(0)).toMatchObject({
    message: 'One',
    context: { agent: 'Assistant', path: ['assistant'], server: 'asking', toolName: 'ask' },
  });
  await turn.answer(0, city('Rome'));
  await turn.answer(1, city('Oslo'));
  const { text } = await turn.end();
  expect(text).toBe('I was told: done');
  expect(setup.server.calls.map(({ params: { requestState } }) => requestState)).toEqual([
    undefined,
    's1',
    's2',
  ]);
});

test('a new message takes the place of a task whose server has asked', async () => {
  const turn = await begin([asks({ one: form('One') }, 's1')], {
    agentId: 'lead',
    text: 'ask the assistant to call asking__ask {"for":"lead"}',
  });
  await turn.question(0);
  const { conversation } = turn;
  const next = await setup.alice.chat('hello', { conversation, agentId: 'lead' });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
  await turn.stream.finished();
  expect(turn.statuses()).toEqual(['cancel']);
  expect(setup.server.calls).toHaveLength(1);
});
