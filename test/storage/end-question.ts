/** Brings an open question to an end, in a test that is about something else. */
import type { Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Storage } from '../../src/storage/storage.ts';

/** As its user, its account, its page or its server would. `expired`: its server gave up. */
export async function endQuestion(
  { elicitations, connections }: Pick<Storage, 'elicitations' | 'connections'>,
  id: string,
  outcome: Outcome,
): Promise<void> {
  const row = await elicitations.get(id);
  if (!row) throw new Error(`There is no question ${id}`);
  const { tenant, user, server } = row;
  if (outcome === 'cancel') {
    await elicitations.settle([id], { type: 'abandoned' });
  } else if (outcome === 'expired') {
    await elicitations.settle([id], { type: 'withdrawn', because: 'server_gave_up' });
  } else if (outcome === 'accept' && server !== null) {
    const key = { tenant, server, user };
    await connections.establish(key, {
      store: 'oauth',
      account: null,
      scopes: [],
      sealed: '',
      freshUntil: null,
    });
    // Other tests find no account.
    await connections.remove(key);
  } else if (outcome === 'accept' && row.request.mode === 'url') {
    await elicitations.settle([id], { type: 'page-done' });
  } else {
    await elicitations.answer(
      id,
      { responseId: 'r1', action: outcome, sealedContent: null, receivedAt: Date.now(), user },
      {
        at: Date.now(),
        tenant,
        elicitationId: id,
        actor: user,
        action: 'answered',
        detail: outcome,
        address: null,
      },
    );
  }
}
