/** A session at a server of the old era through the whole service: which calls share it, and that a worker closes all. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import { startAskingServer } from '../servers/asking-server.ts';
import { callOf, nthQuestion, respond, startAsking } from '../service/asking.ts';
import type { Caller } from '../service/user.ts';

test(
  'a user’s turns go on in one session, another user has one of their own, and a worker that stops leaves none',
  { timeout: 60_000 },
  async () => {
    const temporal = await startDevelopmentServer();
    onTestFinished(() => temporal.stop());
    const server = await startAskingServer({ era: 'legacy' });
    onTestFinished(() => server.stop());
    const service = await startAsking({ temporal, url: server.config.url });

    async function book(caller: Caller, city: string): Promise<void> {
      const conversation = randomUUID();
      const stream = await caller.chat(callOf(['book', { city }]), { conversation });
      const question = await nthQuestion(stream, 0);
      await respond(caller, conversation, question, { action: 'accept', content: { nights: 2 } });
      await stream.finished();
      expect(stream.text()).toBe(`booked ${city} for 2`);
    }

    try {
      const [alice, bob] = [await service.as('alice'), await service.as('bob')];
      await book(alice, 'Lisbon');
      await book(alice, 'Rome');
      await book(bob, 'Oslo');
    } finally {
      await service.stop();
    }
    const calls = server.requests.filter(({ method }) => method === 'tools/call');
    const [lisbon, rome, oslo] = calls.map(({ headers }) => headers['mcp-session-id']);
    expect(rome).toBe(lisbon);
    expect(oslo).not.toBe(lisbon);
    expect(server.sessions.size).toBe(0);
  },
);
