/** Many agents of one turn want the same account, and some of them are ended from outside. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';
import { untilDelegatesWait } from './waiting.ts';

const used = useService({ env: { DELEGATION_MAX_PER_STEP: '100', RATE_LIMIT_PER_MINUTE: '10000' } });
let conversation: string;
beforeEach(() => {
  conversation = randomUUID();
});
afterEach(() => used.alice.request('DELETE', '/run/v1/connections/tracker'));

const researcher = 'call agent__researcher {"task":"list my open issues"}';
const editor = 'call agent__editor {"task":"ask the researcher to list my closed issues"}';
const publisher =
  'call agent__publisher {"task":"call agent__editor {\\"task\\":\\"ask the researcher to list my open issues\\"}"}';

const workflow = (id: string) => used.temporal.client.workflow.getHandle(id);
const ask = (calls: string[]) => used.alice.chat(calls.join('\n'), { conversation, agentId: 'lead' });
const researchersWait = (stream: ChatStream, count: number) =>
  untilDelegatesWait(used, { conversation, stream }, 'researcher', count, 90_000);
const questionsIn = ({ chunks }: ChatStream) =>
  chunks.flatMap(({ type, data }) => (type === 'data-elicitation-request' ? [data as ElicitationData] : []));
const pendingIn = (stream: ChatStream) => questionsIn(stream).filter(({ status }) => status === 'pending');
const outcomesIn = ({ chunks }: ChatStream) => ({
  answered: chunks.filter(({ type }) => type === 'tool-output-available').length,
  failed: chunks.filter(({ type }) => type === 'tool-output-error').length,
});

test('a hundred of them are served by one answer', { timeout: 180_000 }, async () => {
  const stream = await ask(Array.from({ length: 100 }, () => researcher));
  const { url } = await stream.question('pending');
  await researchersWait(stream, 100);
  await connectAccount('alice', url);
  await stream.finished();
  expect(outcomesIn(stream)).toEqual({ answered: 100, failed: 0 });
  expect(pendingIn(stream)).toHaveLength(1);
});

test('a hundred of them make room for one message', { timeout: 180_000 }, async () => {
  const stream = await ask(Array.from({ length: 100 }, () => researcher));
  await stream.question('pending');
  await researchersWait(stream, 100);
  const next = await used.alice.chat('hello', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
  await stream.finished();
  expect(pendingIn(stream)).toHaveLength(1);
});

test.each([
  ['agents that ask', (id: string) => id],
  // Everything that it has handed on ends with it.
  ['agents to which the turn’s own handed tasks', (id: string) => /^.*?\/agent\/[^/]+/.exec(id)?.[0] ?? id],
])(
  'six %s are ended from outside while twenty wait, and the question serves the others',
  { timeout: 180_000 },
  async (_, of) => {
    const kinds = [publisher, editor, researcher, researcher];
    const stream = await ask(Array.from({ length: 20 }, (_, index) => kinds[index % 4]!));
    const { url } = await stream.question('pending');
    const ids = await researchersWait(stream, 20);
    for (const id of ids.slice(0, 6)) await workflow(of(id)).terminate('by hand');
    await connectAccount('alice', url);
    await stream.finished();
    const { answered, failed } = outcomesIn(stream);
    expect(answered + failed).toBe(20);
    expect(failed).toBeLessThanOrEqual(6);
    expect(pendingIn(stream)).toHaveLength(1);
    const open = await used.service.storage.elicitations.ofConversation(
      { tenant: 'demo', conversation },
      'pending',
    );
    expect(open).toEqual([]);
  },
);
