/** Turns and their questions by ids that a client sent: what a surface without state of its own does with them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followTurn } from '../../src/service/follow-turn.ts';
import { listQuestions } from '../../src/service/list-questions.ts';
import { findTurn } from '../../src/service/own-turn.ts';
import type { Principal } from '../../src/service/principal.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { begunTurn } from '../storage/contract/fixtures.ts';
import { question } from '../storage/contract/question.ts';

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
    for await (const batch of followTurn(storage, ended.turn, AbortSignal.timeout(5_000)))
      types.push(...batch.map(({ event }) => event.type));
  expect([types[0], types.at(-1)]).toEqual(['turn-started', 'turn-ended']);
});

test('a turn in a conversation of somebody else is refused as one that does not exist', async () => {
  const turn = await begunTurn(storage, { user: 'alice' });
  const refused = { code: 'conversation_not_found' };
  for (const stranger of [
    person('bob', turn.tenant),
    person('alice', 'elsewhere'),
    { kind: 'service', tenant: turn.tenant, keyId: 'k' } as const,
  ])
    await expect(findTurn(storage, stranger, turn)).rejects.toMatchObject(refused);
  const alice = person('alice', turn.tenant);
  await expect(findTurn(storage, alice, { ...turn, conversation: 'none' })).rejects.toMatchObject(refused);
  expect(await findTurn(storage, alice, { ...turn, turnId: 'none' })).toBeNull();
});

test('the questions of one turn leave out those of the others', async () => {
  const first = await begunTurn(storage, { user: 'alice' });
  await storage.elicitations.open(question(first, { id: 'first' }), 20);
  await storage.turns.end(first, 'completed');
  const { tenant, conversation } = first;
  const second = await begunTurn(storage, { user: 'alice', tenant, conversation });
  await storage.elicitations.open(question(second, { id: 'second' }), 20);
  const alice = person('alice', first.tenant);
  const list = async (which?: Parameters<typeof listQuestions>[3]) =>
    (await listQuestions(storage, alice, first.conversation, which)).map(({ id }) => id);
  expect(await list()).toEqual(['first', 'second']);
  expect(await list({ turnId: first.turnId })).toEqual(['first']);
  expect(await list({ turnId: first.turnId, status: 'pending' })).toEqual([]);
  expect(await list({ status: 'pending' })).toEqual(['second']);
});
