import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnSearch } from '../../../src/storage/tables/oversight.ts';
import type { NewTurn } from '../../../src/storage/tables/turn-lifecycle.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, keptStep, newTurn, refuseWhileBusy } from './fixtures.ts';
import { answer, formQuestion, open, question } from './question.ts';

const page = { after: null, limit: 10 };

/** So that no two turns begin in one millisecond. */
async function turnsOf(storage: Storage, tenant: string, given: Partial<NewTurn>[]): Promise<NewTurn[]> {
  const turns: NewTurn[] = [];
  for (const one of given) {
    turns.push(await begunTurn(storage, { tenant, ...one }));
    const begunAt = storage.now();
    await expect.poll(() => storage.now(), { interval: 1 }).toBeGreaterThan(begunAt + 1);
  }
  return turns;
}

onEachDatabase((subject) => {
  describe('what operators list', () => {
    test('turns by user, service, agent, server, state and age, newest first, of one tenant', async () => {
      const { storage } = subject();
      const tenant = randomUUID();
      const [asking, busy, done, service] = await turnsOf(storage, tenant, [
        { user: 'alice' },
        { user: 'bob', agent: 'lead' },
        { user: 'alice' },
        { user: null, service: 'billing' },
      ]);
      await begunTurn(storage);
      const call = (toolName: string) => ({ toolCallId: randomUUID(), toolName, input: {} });
      await keptStep(storage, asking!, { finish: 'tool-calls', calls: [call('tracker__list_issues')] });
      await keptStep(storage, busy!, {
        finish: 'tool-calls',
        calls: [call('agent__researcher'), call('trackers__x')],
      });
      await open(storage, formQuestion(asking!));
      await storage.turns.end(done!, 'completed');
      const found = async (search: TurnSearch) =>
        (await storage.oversight.turns(tenant, search, page)).map(({ turnId }) => turnId);
      const ids = (...turns: (NewTurn | undefined)[]) => turns.map((turn) => turn?.turnId);
      expect(await found({})).toEqual(ids(service, done, busy, asking));
      expect(await found({ user: 'alice' })).toEqual(ids(done, asking));
      expect(await found({ service: 'billing' })).toEqual(ids(service));
      expect(await found({ service: 'bill' })).toEqual([]);
      expect(await found({ agent: 'lead' })).toEqual(ids(busy));
      expect(await found({ server: 'tracker' })).toEqual(ids(asking));
      expect(await found({ server: 'researcher' })).toEqual(ids(busy));
      expect(await found({ state: 'waiting' })).toEqual(ids(asking));
      expect(await found({ state: 'working' })).toEqual(ids(service, busy));
      expect(await found({ state: 'completed', user: 'alice' })).toEqual(ids(done));
      await storage.turns.cancel(service!);
      expect(await found({ state: 'cancelling' })).toEqual(ids(service));
      expect(await found({ state: 'working' })).toEqual(ids(busy));
      const { createdAt } = (await storage.turns.get(busy!))!;
      expect(await found({ since: createdAt })).toEqual(ids(service, done, busy));
      expect(await found({ until: createdAt })).toEqual(ids(asking));
    });

    test('turns by how their ids begin', async () => {
      const { storage } = subject();
      const tenant = randomUUID();
      const [start] = randomUUID().split('-') as [string];
      for (const end of ['-1', '-2', 'a']) await begunTurn(storage, { tenant, turnId: start + end });
      const other = await begunTurn(storage, { tenant: randomUUID(), turnId: `${start}-3` });
      const found = (of: string | null, text: string) => storage.oversight.idsBeginningWith(of, text);
      expect(await found(tenant, start)).toHaveLength(2);
      expect(await found(tenant, `${start}a`)).toEqual([`${start}a`]);
      expect(await found(other.tenant, start)).toEqual([other.turnId]);
      expect(await found(null, start)).toHaveLength(2);
      expect(await found(tenant, randomUUID().slice(0, 8))).toEqual([]);
    });

    test('turns with the id of their trace, where they are traced', async () => {
      const { storage } = subject();
      const traceId = 'a'.repeat(32);
      const traced = await begunTurn(storage, { traceParent: `00-${traceId}-${'b'.repeat(16)}-01` });
      const untraced = await begunTurn(storage);
      expect(await storage.oversight.turn(traced.turnId)).toMatchObject({ traceId });
      expect(await storage.oversight.turn(untraced.turnId)).toMatchObject({ traceId: null });
    });

    test('turns and questions page by page, each once', async () => {
      const { storage } = subject();
      const tenant = randomUUID();
      const turns = await turnsOf(storage, tenant, [{}, {}, {}]);
      for (const turn of turns) await open(storage, formQuestion(turn));
      const [first, second] = await storage.oversight.turns(tenant, {}, { after: null, limit: 2 });
      const after = { createdAt: second!.createdAt, id: second!.turnId };
      const rest = await storage.oversight.turns(tenant, {}, { after, limit: 2 });
      expect([first, second, ...rest].map((turn) => turn?.turnId)).toEqual(
        turns.toReversed().map(({ turnId }) => turnId),
      );
      const [newest] = await storage.oversight.questions(tenant, {}, { after: null, limit: 1 });
      const older = await storage.oversight.questions(
        tenant,
        {},
        { after: { createdAt: newest!.createdAt, id: newest!.id }, limit: 9 },
      );
      expect(new Set([newest!, ...older].map(({ id }) => id)).size).toBe(3);
    });

    test('questions by user, agent, server and status', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage, { tenant: randomUUID() });
      const [ofServer, ofAccount, answered] = [
        formQuestion(turn),
        question(turn, {
          server: 'notes',
          request: {
            ...question(turn).request,
            context: { trigger: 'credential_required', server: 'notes' },
          },
        }),
        formQuestion(turn, { agent: 'researcher' }),
      ];
      for (const one of [ofServer, ofAccount, answered]) await open(storage, one);
      await answer(storage, answered);
      const found = async (search: Parameters<Storage['oversight']['questions']>[1]) =>
        (await storage.oversight.questions(turn.tenant, search, page)).map(({ id }) => id).toSorted();
      expect(await found({})).toHaveLength(3);
      expect(await found({ server: 'notes' })).toEqual([ofAccount.id]);
      // A server's name is no pattern.
      expect(await found({ server: 'note_' })).toEqual([]);
      expect(await found({ agent: 'researcher' })).toEqual([answered.id]);
      expect(await found({ status: 'pending' })).toEqual([ofServer.id, ofAccount.id].toSorted());
      expect(await found({ user: 'bob' })).toEqual([]);
    });

    test('a turn by its id alone, with its open questions and how often it was tried', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const asked = formQuestion(turn);
      await open(storage, asked);
      const of = { step: 0, attempt: 3 };
      await storage.steps.begin(turn, of);
      await storage.steps.keep(turn, of, {
        finish: 'tool-calls',
        usage: { inputTokens: 1, outputTokens: 1 },
        messages: [],
        events: [],
        calls: [{ toolCallId: 'call', toolName: 'list', input: {} }],
      });
      await storage.toolCalls.take(turn, 'call', { execution: 2, attempt: 4 });
      expect(await storage.oversight.turn(turn.turnId)).toMatchObject({
        tenant: turn.tenant,
        waitsFor: [{ id: asked.id, status: 'pending' }],
      });
      expect(await storage.oversight.turn('unknown')).toBeNull();
      const attempts = await storage.oversight.attemptsOf(turn.turnId);
      expect([...attempts.steps]).toEqual([['step/0', 3]]);
      expect([...attempts.calls]).toEqual([['call', 4]]);
    });

    test('a cancellation and its entry in the audit are one: of a turn that is over there is none', async () => {
      const { storage } = subject();
      const turn = newTurn();
      await storage.turns.prepare(turn, refuseWhileBusy);
      await storage.turns.begin(turn);
      const { tenant, turnId } = turn;
      const asked = formQuestion(turn);
      await open(storage, asked);
      await answer(storage, asked);
      const entry = {
        at: 7,
        tenant,
        elicitationId: '',
        turnId,
        actor: 'olga',
        action: 'cancelled',
        detail: 'turn',
        address: null,
      } as const;
      expect(await storage.turns.cancel(turn, entry)).toBe(true);
      await storage.turns.end(turn, 'cancelled', { isOwn: true });
      expect(await storage.turns.cancel(turn, entry)).toBe(false);
      expect(await storage.audit.ofTurn(turnId)).toEqual([
        expect.objectContaining({ elicitationId: asked.id, action: 'answered', actor: 'alice' }),
        entry,
      ]);
    });
  });
});
