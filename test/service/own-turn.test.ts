/** Turns and their questions by ids that a client sent: what a surface without state of its own does with them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followTurn } from '../../src/service/follow-turn.ts';
import { listQuestions } from '../../src/service/questions.ts';
import { findTurn } from '../../src/service/own-turn.ts';
import type { OwnTurn } from '../../src/service/own-turn.ts';
import type { Principal } from '../../src/service/principal.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import { begunTurn, step } from '../storage/contract/fixtures.ts';
import { open, question } from '../storage/contract/question.ts';

let folder: string;
let storage: Storage;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-own-turn-'));
  storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') });
});
afterAll(async () => {
  await storage.close();
  await rm(folder, { recursive: true });
});

const person = (user: string, tenant: string): Principal => ({ kind: 'user', user, tenant });

test('a turn is found by its ids, with how it stands, and can be followed', async () => {
  const turn = await begunTurn(storage, { user: 'alice' });
  const found = () => findTurn(storage, person('alice', turn.tenant), turn);
  expect(await found()).toMatchObject({ agent: turn.agent, status: 'running', endedAt: null });
  await storage.turns.end(turn, 'cancelled');
  const ended = await found();
  expect(ended).toMatchObject({ status: 'cancelled', turn: { turnId: turn.turnId } });
  const types: string[] = [];
  if (ended)
    for await (const batch of followTurn(storage, ended.turn, { signal: AbortSignal.timeout(30_000) }))
      types.push(...batch.map(({ event }) => event.type));
  expect([types[0], types.at(-1)]).toEqual(['turn-started', 'turn-ended']);
});

test('a turn in a conversation of somebody else is refused as one that does not exist', async () => {
  const turn = await begunTurn(storage, { user: 'alice' });
  const refused = { code: 'conversation_not_found' };
  for (const stranger of [
    person('bob', turn.tenant),
    person('alice', 'elsewhere'),
    { kind: 'service', tenant: turn.tenant, keyId: 'k', service: 'billing' } as const,
  ])
    await expect(findTurn(storage, stranger, turn)).rejects.toMatchObject(refused);
  const alice = person('alice', turn.tenant);
  await expect(findTurn(storage, alice, { ...turn, conversation: 'none' })).rejects.toMatchObject(refused);
  expect(await findTurn(storage, alice, { ...turn, turnId: 'none' })).toBeNull();
});

test('a turn is found by its id alone, and only by its owner', async () => {
  const turn = await begunTurn(storage, { user: 'alice' });
  const { turnId } = turn;
  expect(await findTurn(storage, person('alice', turn.tenant), { turnId })).toMatchObject({
    turn: { conversation: turn.conversation, turnId },
    status: 'running',
  });
  for (const stranger of [
    person('bob', turn.tenant),
    person('alice', 'elsewhere'),
    { kind: 'service', tenant: turn.tenant, keyId: 'k', service: 'billing' } as const,
  ])
    expect(await findTurn(storage, stranger, { turnId, address: '192.0.2.1' })).toBeNull();
  expect(await findTurn(storage, person('alice', turn.tenant), { turnId: 'none' })).toBeNull();
  const refusals = await storage.audit.ofElicitation('');
  expect(refusals.filter(({ tenant }) => tenant === turn.tenant)).toMatchObject(
    ['bob', null].map((actor) => ({
      action: 'refused',
      actor,
      detail: 'turn of somebody else',
      address: '192.0.2.1',
    })),
  );
});

async function found(turn: TurnRef): Promise<OwnTurn> {
  const known = await findTurn(storage, person('alice', turn.tenant), { turnId: turn.turnId });
  if (!known) throw new Error('the turn was begun');
  return known.turn;
}

/** The sequence numbers that a reader gets until the turn ends. */
async function read(turn: TurnRef, after?: number, signal = AbortSignal.timeout(30_000)): Promise<number[]> {
  const seqs: number[] = [];
  for await (const batch of followTurn(storage, await found(turn), { after, signal }))
    seqs.push(...batch.map(({ seq }) => seq));
  expect(signal.aborted).toBe(false);
  return seqs;
}

test('a reader goes on after the entries it has, whether the turn runs or has ended meanwhile', async () => {
  const turn = await begunTurn(storage, { user: 'alice' });
  await storage.turnLog.append(turn, [step(1), step(2)]);
  const [whole, rest, live] = [read(turn), read(turn, 2), read(turn, 3)];
  await storage.turns.end(turn, 'completed');
  expect(await Promise.all([whole, rest, live])).toEqual([[1, 2, 3, 4], [3, 4], [4]]);
  expect(await Promise.all([0, 1, 3].map((after) => read(turn, after)))).toEqual([
    [1, 2, 3, 4],
    [2, 3, 4],
    [4],
  ]);
});

test('a reader that has the end is told nothing more, and does not wait', async () => {
  const turn = await begunTurn(storage, { user: 'alice' });
  await storage.turns.end(turn, 'completed');
  expect(await read(turn, 2)).toEqual([]);
});

test('a position of another turn is before this one, or after its end', async () => {
  const first = await begunTurn(storage, { user: 'alice' });
  await storage.turns.end(first, 'completed');
  const { tenant, conversation } = first;
  const second = await begunTurn(storage, { user: 'alice', tenant, conversation });
  await storage.turnLog.append(second, [step(1)]);
  expect(await read(first, 4)).toEqual([]);
  const reading = read(second, 1);
  await storage.turns.end(second, 'completed');
  expect(await reading).toEqual([3, 4, 5]);
});

test('a position that the log has not come to is refused instead of waited for', async () => {
  const turn = await begunTurn(storage, { user: 'alice' });
  await expect(read(turn, 2)).rejects.toMatchObject({ code: 'invalid_request' });
  await storage.turns.end(turn, 'completed');
  await expect(read(turn, 3)).rejects.toMatchObject({ code: 'invalid_request' });
});

test('a turn that ends at any moment while a reader comes back is told to its end', async () => {
  for (let round = 0; round < 25; round += 1) {
    const turn = await begunTurn(storage, { user: 'alice' });
    await storage.turnLog.append(turn, [step(1)]);
    const [seqs] = await Promise.all([read(turn, 2), storage.turns.end(turn, 'completed')]);
    expect(seqs).toEqual([3]);
  }
});

test('the questions of one turn leave out those of the others', async () => {
  const first = await begunTurn(storage, { user: 'alice' });
  await open(storage, question(first, { id: 'first' }));
  await storage.turns.end(first, 'completed');
  const { tenant, conversation } = first;
  const second = await begunTurn(storage, { user: 'alice', tenant, conversation });
  await open(storage, question(second, { id: 'second' }));
  const alice = person('alice', first.tenant);
  const list = async (which?: Parameters<typeof listQuestions>[3]) =>
    (await listQuestions(storage, alice, first.conversation, which)).map(({ id }) => id);
  expect(await list()).toEqual(['first', 'second']);
  expect(await list({ turnId: first.turnId })).toEqual(['first']);
  expect(await list({ turnId: first.turnId, status: 'pending' })).toEqual([]);
  expect(await list({ status: 'pending' })).toEqual(['second']);
});
