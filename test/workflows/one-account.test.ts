/** Several agents of one turn need the same account: the user is asked once, and the answer counts for all of them. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';
import { untilDelegatesWait } from './waiting.ts';

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
const questionsIn = ({ chunks }: ChatStream) =>
  chunks.filter(({ type }) => type === 'data-elicitation-request').map(({ data }) => data as ElicitationData);
/** How each question of the turn ended. */
const endsIn = (stream: ChatStream) =>
  Object.values(
    Object.fromEntries(questionsIn(stream).map((question) => [question.elicitationId, question.status])),
  );
const errorsIn = (stream: ChatStream) =>
  stream.chunks.filter(({ type }) => type === 'tool-output-error').map(({ errorText }) => String(errorText));

/** Until so many delegates called researcher wait for the user. */
async function researchersWait(stream: ChatStream, count: number) {
  const question = await stream.question('pending');
  const ids = await untilDelegatesWait(used, { conversation, stream }, 'researcher', count);
  return { ...question, ids };
}

describe('the lead and delegates of one, two and three levels', () => {
  const calls = [own, editor, deepest, researcher];

  test('go on when the account is connected', async () => {
    const stream = await ask(...calls);
    const { url } = await researchersWait(stream, 3);
    await connectAccount('alice', url);
    await stream.finished();
    expect(errorsIn(stream)).toEqual([]);
    expect(stream.text().match(/#\d+ |Here they are/g)?.length).toBeGreaterThanOrEqual(calls.length);
    expect(endsIn(stream)).toEqual(['accept']);
  });

  test('are refused when the user declines', async () => {
    const stream = await ask(...calls);
    const { elicitationId } = await researchersWait(stream, 3);
    await used.alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
    await stream.finished();
    expect(stream.text()).toContain('I will leave your Tracker account alone');
    expect(endsIn(stream)).toEqual(['decline']);
  });

  test('end when the turn is cancelled', async () => {
    const stream = await ask(...calls);
    await researchersWait(stream, 3);
    await used.alice.cancel(conversation);
    expect((await stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
    expect(endsIn(stream)).toEqual(['cancel']);
  });

  test('make room for a new message', async () => {
    const stream = await ask(...calls);
    await researchersWait(stream, 3);
    const next = await used.alice.chat('hello', { conversation });
    await next.finished();
    expect(next.text()).toBe('You said: hello');
    await stream.finished();
    expect(endsIn(stream)).toEqual(['cancel']);
  });
});

describe('when an operator ends', () => {
  test('the agent that asked first, the question stays open for the other one', async () => {
    const stream = await ask(editor, researcher);
    const { url, ids } = await researchersWait(stream, 2);
    await used.temporal.client.workflow.getHandle(ids[0] ?? '').terminate('by hand');
    const log = () => used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
    await expect.poll(async () => JSON.stringify(await log())).toContain('It was stopped');
    await connectAccount('alice', url);
    await stream.finished();
    expect(endsIn(stream)).toEqual(['accept']);
  });

  test('all agents that wait for it, the question closes', async () => {
    const stream = await ask(editor, researcher);
    const { ids } = await researchersWait(stream, 2);
    for (const id of ids) await used.temporal.client.workflow.getHandle(id).terminate('by hand');
    await stream.finished();
    expect(errorsIn(stream)).toEqual([expect.stringContaining('It was stopped')]);
    expect(endsIn(stream)).toEqual(['cancel']);
  });
});
