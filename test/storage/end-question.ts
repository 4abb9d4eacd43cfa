/** Brings an open question to an end, in a test that is about something else. */
import type { Outcome } from '../../src/elicitation/elicitation.ts';
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
  switch (outcome) {
    case 'cancel':
      await elicitations.settle([id], { type: 'abandoned' });
      return;
    case 'expired':
      await elicitations.settle([id], { type: 'withdrawn', because: 'server_gave_up' });
      return;
    case 'accept':
      if (server === null && row.request.mode === 'url')
        return void (await elicitations.settle([id], { type: 'page-done' }));
      if (server !== null) {
        const account = { store: 'oauth', account: null, scopes: [], sealed: '', freshUntil: null };
        await connections.establish({ tenant, server, user }, account);
        // Other tests find no account.
        return void (await connections.remove({ tenant, server, user }));
      }
    // Falls through: a form.
    case 'decline':
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
      return;
    default:
      return outcome satisfies never;
  }
}
