/** Several agents of one turn need the same account: the user is asked once, and the answer counts for all of them. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const used = useService();
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
});
afterEach(() => used.alice.request('DELETE', '/run/v1/connections/tracker'));

/** The lead's own call, a delegate's, and that of a delegate's delegate, all in one step. */
const own = 'call tracker__list_issues {"state":"open"}';
const researcher = 'call agent__researcher {"task":"list my open issues"}';
const editor = 'call agent__editor {"task":"ask the researcher to list my closed issues"}';
const deepest =
  'call agent__publisher {"task":"call agent__editor {\\"task\\":\\"ask the researcher to list my open issues\\"}"}';

const ask = (...calls: string[]) => used.alice.chat(calls.join('\n'), { conversation, agentId: 'lead' });
const handle = (id = '') =>
  used.temporal.client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation }) + id);
const questionsIn = ({ chunks }: ChatStream) =>
  chunks.filter(({ type }) => type === 'data-elicitation-request').map(({ data }) => data as ElicitationData);
/** How each question of the turn ended. */
const endsIn = (stream: ChatStream) =>
  Object.values(
    Object.fromEntries(questionsIn(stream).map((question) => [question.elicitationId, question.status])),
  );
const errorsIn = (stream: ChatStream) =>
  stream.chunks.filter(({ type }) => type === 'tool-output-error').map(({ errorText }) => String(errorText));

/** Until all of its agents wait for the user. */
async function everyoneWaits(stream: ChatStream): Promise<Awaited<ReturnType<ChatStream['question']>>> {
  const question = await stream.question('pending');
  await expect.poll(() => handle().query('turn')).toMatchObject({ phase: 'waiting' });
  return question;
}

describe('the lead and delegates of one, two and three levels', () => {
  const calls = [own, editor, deepest, researcher];

  test('go on when the account is connected', async () => {
    const stream = await ask(...calls);
    const { url } = await everyoneWaits(stream);
    await connectAccount('alice', url);
    await stream.finished();
    expect(errorsIn(stream)).toEqual([]);
    expect(stream.text().match(/#\d+ |Here they are/g)?.length).toBeGreaterThanOrEqual(calls.length);
    expect(endsIn(stream)).toEqual(['accept']);
  });

  test('are refused when the user declines', async () => {
    const stream = await ask(...calls);
    const { elicitationId } = await everyoneWaits(stream);
    await used.alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
    await stream.finished();
    expect(stream.text()).toContain('I will leave your Tracker account alone');
    expect(endsIn(stream)).toEqual(['decline']);
  });

  test('end when the turn is cancelled', async () => {
    const stream = await ask(...calls);
    await everyoneWaits(stream);
    await used.alice.cancel(conversation);
    expect((await stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
    expect(endsIn(stream)).toEqual(['cancel']);
  });

  test('make room for a new message', async () => {
    const stream = await ask(...calls);
    await everyoneWaits(stream);
    const next = await used.alice.chat('hello', { conversation });
    await next.finished();
    expect(next.text()).toBe('You said: hello');
    await stream.finished();
    expect(endsIn(stream)).toEqual(['cancel']);
  });
});

describe('the agent that asks is ended by an operator', () => {
  test('and another one asks instead', async () => {
    const stream = await ask(editor, researcher);
    const { elicitationId: first } = await everyoneWaits(stream);
    const row = await used.service.storage.elicitations.get(first);
    await used.temporal.client.workflow.getHandle(row?.workflowId ?? '').terminate('by hand');
    await stream.until(() => questionsIn(stream).some(({ elicitationId }) => elicitationId !== first));
    const second = questionsIn(stream).find(({ elicitationId }) => elicitationId !== first);
    await connectAccount('alice', second?.url ?? '');
    await stream.finished();
    expect(errorsIn(stream)).toEqual([expect.stringContaining('It was stopped')]);
    expect(endsIn(stream).toSorted()).toEqual(['accept', 'cancel']);
  });
});

test('a request for an account in the name of a call that nobody made keeps no agent from asking', async () => {
  const first = await ask(own);
  await connectAccount('alice', (await first.question('pending')).url);
  await first.finished();
  conversation = randomUUID();
  const held = used.service.tracker.faults.hold('before');
  const stream = await ask('list yourself, then ask the researcher');
  await held.arrived;
  await handle().signal('accountWanted', { toolCallId: 'nobody', server: 'tracker' });
  await used.alice.request('DELETE', '/run/v1/connections/tracker');
  held.release();
  const { elicitationId } = await stream.question('pending');
  await used.alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
  await stream.finished();
  expect(endsIn(stream)).toEqual(['decline']);
});
