/** What becomes of tool calls when tokens end, servers fail and answers get lost; whole turns, real servers. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Chunk, ElicitationData } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const { service, alice } = useService({ per: 'test' });
beforeEach(async () => {
  const stream = await alice.chat('list my open issues');
  await connectAccount('alice', (await stream.question('pending')).url);
  await stream.finished();
});

const key = { tenant: 'demo', server: 'tracker', user: 'alice' };
const errorsIn = (chunks: Chunk[]) =>
  chunks.filter(({ type }) => type === 'tool-output-error').map(({ errorText }) => String(errorText));
const questionsIn = (chunks: Chunk[]) =>
  chunks.flatMap(({ type, data }) => (type === 'data-elicitation-request' ? [data as ElicitationData] : []));
const executed = (tool: string) => service.tracker.calls.filter((call) => call.tool === tool).length;

describe('a connection that stopped working', () => {
  test('an account revoked at the provider leads to one question that says so, and then the call is made', async () => {
    service.tracker.revoke('alice');
    const before = executed('list_issues');
    const stream = await alice.chat('list my open issues');
    const question = await stream.question('pending');
    expect(question.context['reason']).toMatch(/^(rejected|revoked)$/);
    expect(question.message).toContain('Connect again');
    await connectAccount('alice', question.url);
    const chunks = await stream.finished();
    expect(questionsIn(chunks).map(({ status }) => status)).toEqual(['pending', 'accept']);
    expect(errorsIn(chunks)).toEqual([]);
    expect(executed('list_issues')).toBe(before + 1);
    expect(await service.storage.connections.get(key)).toMatchObject({ status: 'active', version: 2 });
  });

  test('a refusal that a renewed token does not cure is not asked about for ever', async () => {
    service.tracker.faults.refuseWith = 401;
    const stream = await alice.chat('list my open issues');
    for (let round = 0; round < 2; round++) {
      const asked = await stream.until(
        ({ type, data }) =>
          type === 'data-elicitation-request' &&
          questionsIn(stream.chunks).length === round * 2 + 1 &&
          (data as ElicitationData).elicitationId === questionsIn(stream.chunks).at(-1)?.elicitationId,
      );
      await connectAccount('alice', (asked['data'] as ElicitationData).url);
      await stream.until(
        () => questionsIn(stream.chunks).filter(({ status }) => status === 'accept').length > round,
      );
    }
    const chunks = await stream.finished();
    expect(errorsIn(chunks)[0]).toContain('still refuses it');
  });

  test('a token that ran out is renewed without asking anybody', async () => {
    const { connections } = service.storage;
    const old = await connections.get(key);
    if (!old) throw new Error('alice is connected');
    await connections.refresh(old, { ...old, freshUntil: 1 });
    const stream = await alice.chat('list my open issues');
    expect(questionsIn(await stream.finished())).toEqual([]);
    expect(stream.text()).toContain('Here they are');
    const renewed = await connections.get(key);
    expect(renewed).toMatchObject({ status: 'active', version: old.version });
    expect(renewed?.sealed).not.toBe(old.sealed);
  });
});

describe('a call whose answer is lost', () => {
  test('is reported as unknown and not repeated, because it may have been carried out', async () => {
    service.tracker.faults.dropNext('after');
    const stream = await alice.chat('create an issue called Lost');
    expect(errorsIn(await stream.finished())[0]).toContain('unknown whether the action took place');
    expect(executed('create_issue')).toBe(1);
  });

  test('is repeated when its tool is declared read-only', async () => {
    service.tracker.faults.dropNext('before');
    const stream = await alice.chat('list my open issues');
    const chunks = await stream.finished();
    expect(errorsIn(chunks)).toEqual([]);
    expect(stream.text()).toContain('Here they are');
  });
});

test('a server that is down is named to the model, nothing is repeated later, and the turn goes on', async () => {
  await service.tracker.stop();
  const stream = await alice.chat('create an issue called Never');
  expect(errorsIn(await stream.finished())[0]).toMatch(/Tracker.*The tool did not run/s);
});

test('cancelling the turn aborts the call under way and says that its outcome is unknown', async () => {
  const held = service.tracker.faults.hold('before');
  const conversation = randomUUID();
  const stream = await alice.chat('create an issue called Stopped', { conversation });
  await held.arrived;
  await alice.cancel(conversation);
  const chunks = await stream.finished();
  held.release();
  expect(chunks.map(({ type }) => type)).toContain('abort');
  expect(errorsIn(chunks)[0]).toContain('unknown');
  const entries = await service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
  expect(entries.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: 'tool-output-error', outcome: 'stopped' }),
  );
});
