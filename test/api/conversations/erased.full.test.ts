/** What was erased is gone from the database, from Temporal and at providers. Temporal deletes histories after half a minute. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createMayChange } from '../../../src/service/accounts.ts';
import { createOwnConnections } from '../../../src/service/connections.ts';
import { eraseAgain, eraseUser } from '../../../src/service/erase.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { useService } from '../../service/use-service.ts';

const { service, alice, temporal } = useService();

const by = { actor: 'operator', waitMs: 30_000 };

function erasing() {
  const { parts } = service;
  return {
    ...parts,
    connections: createOwnConnections({ ...parts, mayChange: createMayChange(parts.storage) }),
  };
}

async function workflowsOf(conversations: string[]): Promise<string[]> {
  const query = `InterludeConversation in (${conversations.map((id) => `'${id}'`).join(', ')})`;
  const found = [];
  for await (const { workflowId } of temporal.client.workflow.list({ query })) found.push(workflowId);
  return found;
}

test(
  'conversations and users are erased with their histories and accounts',
  { timeout: 180_000 },
  async () => {
    const [own, connected, waiting] = [randomUUID(), randomUUID(), randomUUID()];
    const url = `/run/v1/conversations/${own}`;
    const asking = await alice.chat('ask the researcher to list my open issues', {
      conversation: own,
      agentId: 'lead',
    });
    const question = await asking.question('pending');
    expect(await alice.request('DELETE', url)).toMatchObject({
      status: 409,
      body: { code: 'turn_in_progress' },
    });
    await connectAccount('alice', question.url);
    await asking.finished();

    expect((await alice.request('DELETE', url)).status).toBe(204);
    expect((await alice.request('GET', url)).status).toBe(404);

    const bob = { tenant: 'demo', user: 'bob' };
    const caller = await service.as('bob');
    const stopped = await caller.chat('list my open issues', { conversation: waiting });
    await stopped.question('pending');
    const first = await eraseUser(erasing(), bob, by);
    expect(first).toEqual({ conversations: 1, connections: 0, notRevoked: [] });
    await stopped.finished();
    // The same person again, now with an account.
    const finishing = await caller.chat('list my open issues', { conversation: connected });
    await connectAccount('bob', (await finishing.question('pending')).url);
    await finishing.finished();
    const second = await eraseUser(erasing(), bob, by);
    expect(second).toEqual({ conversations: 1, connections: 1, notRevoked: [] });
    const key = { tenant: 'demo', server: 'tracker', user: 'bob' };
    expect(await service.storage.connections.get(key)).toBeNull();
    expect(await service.storage.connections.lastVersion(key)).toBe(0);
    expect((await caller.request('GET', '/run/v1/conversations')).body).toMatchObject({ items: [] });
    // Other people's remain.
    expect(await service.storage.connections.get({ ...key, user: 'alice' })).not.toBeNull();

    const list = await service.storage.erasure.list();
    expect(list).toMatchObject([{ conversation: own }, { user: 'bob' }, { user: 'bob' }]);
    // A restored backup that knows the list has nothing to repeat.
    expect(await eraseAgain(erasing(), list, by)).toEqual([]);
    await expect
      .poll(() => workflowsOf([own, connected, waiting]), { timeout: 120_000, interval: 1_000 })
      .toEqual([]);
    // An id may be used again.
    await (await alice.chat('hello', { conversation: own })).finished();
    expect((await alice.request('GET', url)).status).toBe(200);
  },
);
