/** How far tasks may spread and how much may be asked in one turn: over a limit, the model gets an error and goes on. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import { useService } from '../service/use-service.ts';
import type { Storage } from '../../src/storage/storage.ts';

/** Questions that were not asked, because as many are open in their turn as may be. */
let refused = 0;
const used = useService({
  around: (storage) => {
    const open: Storage['elicitations']['open'] = async (...given) => {
      const opened = await storage.elicitations.open(...given);
      if (opened.kind === 'too-many-in-turn') refused += 1;
      return opened;
    };
    return { ...storage, elicitations: { ...storage.elicitations, open } };
  },
  env: { ELICITATION_MAX_OPEN_PER_TURN: '2', DELEGATION_MAX_DEPTH: '2', DELEGATION_MAX_PER_STEP: '2' },
});

const task = (agent: string, text: string) => `call agent__${agent} ${JSON.stringify({ task: text })}`;
const form = (message: string) =>
  `call ask_user ${JSON.stringify({ message, schema: { type: 'object', properties: { city: { type: 'string' } } } })}`;
const ask = (conversation: string, ...calls: string[]) =>
  used.alice.chat(calls.join('\n'), { conversation, agentId: 'lead' });
const pendingIn = ({ chunks }: ChatStream) =>
  chunks.flatMap(({ type, data }) => {
    const question = data as ElicitationData;
    return type === 'data-elicitation-request' && question.status === 'pending' ? [question] : [];
  });
const errorsIn = ({ chunks }: ChatStream) =>
  chunks.flatMap(({ type, errorText }) => (type === 'tool-output-error' ? [String(errorText)] : []));

test('a task that was handed on as often as allowed is done, or not, by whoever has it', async () => {
  const stream = await ask(
    randomUUID(),
    task('publisher', task('editor', 'ask the researcher to say hello')),
  );
  await stream.finished();
  expect(stream.text()).toContain('Researcher was not asked: agents may hand a task on 2 times at most');
  expect(errorsIn(stream)).toEqual([]);
  expect(stream.chunks.at(-1)).toMatchObject({ type: 'finish' });
});

test('of more tasks than may be handed out at a time, the first are', async () => {
  const names = ['one', 'two', 'three', 'four'];
  const stream = await ask(randomUUID(), ...names.map((name) => task('researcher', `say ${name}`)));
  await stream.finished();
  const answers = stream.chunks.flatMap(({ type, output }) =>
    type === 'tool-output-available' ? [/say \w+/.exec(JSON.stringify(output))?.[0]] : [],
  );
  expect(answers.toSorted()).toEqual(['say one', 'say two']);
  expect(errorsIn(stream)).toEqual(
    Array(2).fill(
      expect.stringContaining('Researcher was not asked: an agent may hand out 2 tasks at a time'),
    ),
  );
});

test('of the questions of a turn, whichever of its agents asks, so many are open; other turns may ask', async () => {
  const conversation = randomUUID();
  const forms = [form('Where from?'), form('Where to?')].join('\n');
  const stream = await ask(conversation, task('interviewer', forms), task('interviewer', forms));
  await stream.until(() => pendingIn(stream).length === 2);
  await expect.poll(() => refused).toBe(2);
  const other = await used.alice.chat(form('And you?'), {
    conversation: randomUUID(),
    agentId: 'interviewer',
  });
  expect(await other.question('pending')).toMatchObject({ message: 'And you?' });
  for (const { elicitationId } of pendingIn(stream)) {
    const answer = { conversationId: conversation, elicitationId, action: 'decline' } as const;
    expect((await used.alice.answer(answer)).status).toBeLessThan(300);
  }
  await stream.finished();
  // Whichever agent came first, which says no sentence twice in its words.
  const log = await used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  const errors = log.flatMap(({ event }) => (event.type === 'tool-output-error' ? [event.errorText] : []));
  expect(errors.toSorted()).toEqual([
    ...Array(2).fill(expect.stringContaining('As many questions are open in this turn as may be')),
    ...Array(2).fill(expect.stringContaining('chose not to answer')),
  ]);
  other.close();
});
