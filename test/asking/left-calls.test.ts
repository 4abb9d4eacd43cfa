/** Calls that were left to their servers while people think: when nobody comes back to one, its server is told. */
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'vitest';
import { startAskingServer } from '../servers/asking-server.ts';
import type { AskingServer } from '../servers/asking-server.ts';
import { createEventStore } from '../servers/event-store.ts';
import { askingEnv, callOf } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';
import { asTurn } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

let server: AskingServer;
const { alice } = useService({
  async needs(stack) {
    server = await startAskingServer({ era: 'legacy', eventStore: createEventStore() });
    stack.defer(() => server.stop());
    return { env: askingEnv(server.config.url) };
  },
});
beforeEach(() => void server.requests.splice(0));

async function begin(): Promise<AskedTurn> {
  const text = callOf(['book', { city: 'Oslo' }]);
  const turn = await asTurn(alice, randomUUID(), (conversation) => alice.chat(text, { conversation }));
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
