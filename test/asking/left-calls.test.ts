/** Calls that were left to their servers while people think: an abandoned one is cancelled at its server. */
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'vitest';
import { startAskingServer } from '../servers/asking-server.ts';
import type { AskingServer } from '../servers/asking-server.ts';
import { createEventStore } from '../servers/event-store.ts';
import { askingEnv, callOf } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';
import { asTurn, roundsAgents } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';
import { delegatesOf, idOf } from '../workflows/waiting.ts';

let server: AskingServer;
const { temporal, service, alice } = useService({
  async needs(stack) {
    server = await startAskingServer({ era: 'legacy', eventStore: createEventStore() });
    stack.defer(() => server.stop());
    return { env: { ...askingEnv(server.config.url), INTERLUDE_CONFIG: roundsAgents } };
  },
});
beforeEach(() => void server.requests.splice(0));

async function begin(agentId = 'assistant'): Promise<AskedTurn> {
  const call = callOf(['book', { city: 'Oslo' }]);
  const text = agentId === 'lead' ? `ask the assistant to ${call}` : call;
  const chat = (conversation: string) => alice.chat(text, { conversation, agentId });
  const turn = await asTurn(alice, randomUUID(), chat);
  await turn.question(0);
  return turn;
}

async function told(method: string): Promise<void> {
  while (!server.requests.some((request) => request.method === method)) await server.nextRequest();
}

test('its turn is cancelled', async () => {
  const turn = await begin();
  await alice.cancel(turn.conversation);
  await turn.end();
  await told('notifications/cancelled');
});

test('a new message takes the place of its turn', async () => {
  const turn = await begin();
  const next = await alice.chat('hello', { conversation: turn.conversation });
  await next.finished();
  await told('notifications/cancelled');
});

test.each(['assistant', 'lead'])('its workflow is ended from outside: %s', async (agentId) => {
  const turn = await begin(agentId);
  await turn.question(0);
  const [delegate] = await delegatesOf({ temporal, service }, turn, 'assistant');
  await temporal.client.workflow.getHandle(delegate ?? idOf(turn)).terminate('by an operator');
  await turn.end();
  await told('notifications/cancelled');
});
