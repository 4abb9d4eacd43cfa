/** The same questions of servers of every era: asked in rounds, left alone where event ids allow it, or held. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startAskingServer } from '../servers/asking-server.ts';
import type { AskingServer } from '../servers/asking-server.ts';
import { createEventStore } from '../servers/event-store.ts';
import { askingEnv, callOf, nthQuestion, questionsIn, respond } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';

const accept = (nights: number) => ({ action: 'accept', content: { nights } });

describe.each([
  { way: 'in rounds', era: 'modern' as const, eventStore: undefined },
  { way: 'held, without event ids', era: 'legacy' as const, eventStore: undefined },
  { way: 'left alone, with event ids', era: 'legacy' as const, eventStore: createEventStore() },
])('$way', ({ era, eventStore }) => {
  let server: AskingServer;
  const { alice } = useService({
    per: 'test',
    async needs(stack) {
      server = await startAskingServer({ era, ...(eventStore && { eventStore }) });
      stack.defer(() => server.stop());
      return { env: askingEnv(server.config.url) };
    },
  });

  test('a form is asked, answered, and the call goes on with the answer', async () => {
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['book', { city: 'Lisbon' }]), { conversation });
    const question = await nthQuestion(stream, 0);
    expect(question).toMatchObject({
      mode: 'form',
      message: 'How many nights in Lisbon?',
      context: { trigger: 'mcp_elicitation', server: 'asking', serverTitle: 'Asking', toolName: 'book' },
    });
    expect(server.done).toEqual([]);
    expect(await respond(alice, conversation, question, accept(3))).toMatchObject({ status: 200 });
    await stream.finished();
    expect(stream.text()).toBe('booked Lisbon for 3');
    expect(server.done).toEqual(['book Lisbon for 3']);
  });

  test('a wizard of three questions gets each answer once', async () => {
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['wizard']), { conversation });
    for (const n of [0, 1, 2]) {
      const question = await nthQuestion(stream, n);
      expect(question.message).toBe(`How many nights in city ${n + 1}?`);
      await respond(alice, conversation, question, accept(n + 1));
    }
    await stream.finished();
    expect(stream.text()).toBe('wizard 1,2,3,');
    expect(server.done).toEqual(['wizard 1,2,3,']);
  });

  test('questions of one round are asked together, and one may be declined', async () => {
    const conversation = randomUUID();
    const stream = await alice.chat(callOf(['compare']), { conversation });
    await nthQuestion(stream, 1);
    for (const question of questionsIn(stream).toReversed()) {
      const isRome = question.message.includes('Rome');
      await respond(alice, conversation, question, isRome ? accept(2) : { action: 'decline' });
    }
    await stream.finished();
    expect(stream.text()).toBe('Rome 2, Oslo none');
  });
});
