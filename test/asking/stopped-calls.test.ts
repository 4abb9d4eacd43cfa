/** Calls whose turn ends while they run: they hear of it at once, wherever they are made, and say what became of them. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { startPushingServer } from '../servers/pushing-server.ts';
import type { PushingServer } from '../servers/pushing-server.ts';
import { askingEnv, callOf } from '../service/asking.ts';
import { useService } from '../service/use-service.ts';
import { asTurn, roundsAgents } from './asking-service.ts';
import type { AskedTurn } from './asking-service.ts';

let server: PushingServer;
const { service, alice } = useService({
  async needs(stack) {
    server = await startPushingServer();
    stack.defer(() => server.stop());
    return { env: { ...askingEnv(server.config.url), INTERLUDE_CONFIG: roundsAgents } };
  },
});
beforeEach(() => void server.seen.splice(0));

const asking = callOf(['watched']);
const agents = [
  { agentId: 'assistant', text: asking },
  { agentId: 'lead', text: `call agent__assistant ${JSON.stringify({ task: asking })}` },
];

describe.each(agents)('a held call of the agent "$agentId"', ({ agentId, text }) => {
  async function begin(): Promise<AskedTurn> {
    const turn = await asTurn(alice, randomUUID(), (conversation) =>
      alice.chat(text, { conversation, agentId }),
    );
    await turn.question(0);
    return turn;
  }

  async function expectStopped({ conversation, stream, statuses }: AskedTurn, words: RegExp): Promise<void> {
    await stream.finished();
    expect(statuses()).toEqual(['cancel']);
    const { turnId } = stream;
    const ref = { tenant: 'demo', conversation, turnId };
    const entries = await service.storage.turnLog.read(ref, 0);
    const told = entries.flatMap(({ event }) =>
      event.type === 'tool-output-error' ? [event.errorText] : [],
    );
    expect(told[0]).toMatch(words);
    await server.saw('cancelled');
  }

  test('stops when its turn is cancelled', async () => {
    const turn = await begin();
    await alice.cancel(turn.conversation);
    // The call itself says what became of it.
    await expectStopped(turn, /The call to Asking .* was cancelled\. So it is unknown/);
  });

  test('stops when a new message takes the place of its turn, which is answered', async () => {
    const turn = await begin();
    const next = await alice.chat('hello', { conversation: turn.conversation });
    await next.finished();
    expect(next.text()).toBe('You said: hello');
    // The turn has ended before the call could.
    await expectStopped(turn, /sent a new message instead of answering/);
  });
});
