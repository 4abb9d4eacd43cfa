/** Many agents of one turn want the same account, and those that ask are ended from outside, one after the other. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

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

const rootId = () => turnWorkflowId({ tenant: 'demo', conversation });
const workflow = (id: string) => used.temporal.client.workflow.getHandle(id);
const ask = (calls: string[]) => used.alice.chat(calls.join('\n'), { conversation, agentId: 'lead' });
const allWait = () =>
  expect
    .poll(() => workflow(rootId()).query('turn'), { timeout: 90_000 })
    .toMatchObject({ phase: 'waiting' });
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
  await expect
    .poll(() => workflow(rootId()).query('turn'), { timeout: 90_000 })
    .toMatchObject({
      phase: 'waiting',
    });
  await connectAccount('alice', url);
  await stream.finished();
  expect(outcomesIn(stream)).toEqual({ answered: 100, failed: 0 });
  expect(pendingIn(stream)).toHaveLength(1);
});

test('a hundred of them make room for one message', { timeout: 180_000 }, async () => {
  const stream = await ask(Array.from({ length: 100 }, () => researcher));
  await stream.question('pending');
  await expect
    .poll(() => workflow(rootId()).query('turn'), { timeout: 90_000 })
    .toMatchObject({
      phase: 'waiting',
    });
  // Whoever is told that the turn has not ended yet sends the message again.
  const message = { conversation, messageId: randomUUID() };
  const next = await vi.waitFor(() => used.alice.chat('hello', message), {
    timeout: 90_000,
    interval: 1_000,
  });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
  await stream.finished();
  expect(pendingIn(stream)).toHaveLength(1);
});

test.each([
  ['each agent that asks', (id: string) => id],
  // Everything that it has handed on ends with it.
  ['the agent to which the turn’s own handed the task', (id: string) => id.split('/').slice(0, 5).join('/')],
])(
  '%s is ended from outside while twenty wait, and the next one asks',
  { timeout: 180_000 },
  async (_, of) => {
    const kinds = [publisher, editor, researcher, researcher];
    const stream = await ask(Array.from({ length: 20 }, (_, index) => kinds[index % 4]!));
    await stream.question('pending');
    await allWait();
    const ended = 6;
    for (let count = 1; count <= ended; count++) {
      const { elicitationId } = pendingIn(stream).at(-1)!;
      const { workflowId = '' } = (await used.service.storage.elicitations.get(elicitationId)) ?? {};
      await workflow(of(workflowId)).terminate('by hand');
      await stream.until(() => pendingIn(stream).length === count + 1);
    }
    await connectAccount('alice', pendingIn(stream).at(-1)?.url ?? '');
    await stream.finished();
    const { answered, failed } = outcomesIn(stream);
    expect(answered + failed).toBe(20);
    expect(failed).toBeLessThanOrEqual(ended);
    expect(pendingIn(stream)).toHaveLength(ended + 1);
    const open = await used.service.storage.elicitations.ofConversation(
      { tenant: 'demo', conversation },
      'pending',
    );
    expect(open).toEqual([]);
  },
);
