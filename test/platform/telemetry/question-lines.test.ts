/** What an operator reads of questions: one line at the start and one at the end, without content. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAskingServer } from '../../servers/asking-server.ts';
import type { AskingServer } from '../../servers/asking-server.ts';
import { callOf, respond, startAsking } from '../../service/asking.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { startService } from '../../service/service.ts';
import type { Service } from '../../service/service.ts';
import { createTimeSkipping, temporalOf } from '../../time-skipping.ts';
import { untilDelegatesWait, untilWaiting } from '../../workflows/waiting.ts';
import type { ObservedTurn } from '../../workflows/waiting.ts';

type Line = Record<string, unknown>;

let environment: TestWorkflowEnvironment;
let server: AskingServer;
/** One with accounts and delegated agents, one with a server that asks. */
const services: Partial<Record<'accounts' | 'forms', Service>> = {};
const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

beforeAll(async () => {
  environment = await createTimeSkipping();
  const temporal = temporalOf(environment);
  server = await startAskingServer({ era: 'modern' });
  services.accounts = await startService({ temporal, logger });
  services.forms = await startAsking({ temporal, logger, url: server.config.url });
});
afterAll(async () => {
  await services.accounts?.stop();
  await services.forms?.stop();
  await server?.stop();
  await environment?.teardown();
});

const city = 'Lisbon-that-is-said';
const kinds = {
  connect: {
    service: 'accounts',
    text: 'list my open issues',
    agentId: 'assistant',
    fields: {
      agent: 'assistant',
      trigger: 'credential_required',
      mode: 'url',
      server: 'tracker',
      credentialStore: 'oauth',
    },
    words: 'is asked to connect tracker',
  },
  form: {
    service: 'forms',
    text: callOf(['book', { city }]),
    agentId: 'assistant',
    fields: {
      agent: 'assistant',
      trigger: 'mcp_elicitation',
      mode: 'form',
      server: 'asking',
      toolName: 'book',
      toolCallId: expect.any(String) as string,
    },
    words: 'is asked by asking (book, form)',
  },
  delegated: {
    service: 'accounts',
    text: 'ask the researcher to list my open issues',
    agentId: 'lead',
    fields: {
      agent: 'researcher',
      path: ['researcher'],
      trigger: 'credential_required',
      mode: 'url',
      server: 'tracker',
      credentialStore: 'oauth',
    },
    words: 'is asked to connect tracker',
  },
} as const;

describe.each(Object.entries(kinds))(
  'a question: %s',
  (_, { service: name, text, agentId, fields, words }) => {
    test.each(['decline', 'cancel', 'expired', 'accept'] as const)('that ends with %s', async (outcome) => {
      lines.length = 0;
      const service = services[name];
      if (!service) throw new Error('the services are started before the tests run');
      const alice = await service.as('alice');
      const conversation = randomUUID();
      const stream = await alice.chat(text, { conversation, agentId });
      const { elicitationId, ...question } = await stream.question('pending');
      if (outcome === 'expired') await letTimePass(service, { conversation, stream }, agentId === 'lead');
      else if (outcome === 'accept' && question.mode === 'url') await connectAccount('alice', question.url);
      else
        await respond(
          alice,
          conversation,
          { elicitationId },
          {
            action: outcome,
            ...(outcome === 'accept' && { content: { nights: 17 } }),
          },
        );
      await stream.finished();
      await removeAccount(service);

      const about = {
        elicitationId,
        tenant: 'demo',
        conversation,
        turnId: stream.turnId,
        user: 'alice',
        ...fields,
      };
      const own = lines
        .map((line) => JSON.parse(line) as Line)
        .filter((line) => line['elicitationId'] === elicitationId);
      expect(own).toEqual([
        expect.objectContaining({ ...about, msg: `turn ${stream.turnId.slice(0, 8)} waits: alice ${words}` }),
        expect.objectContaining({
          ...about,
          outcome,
          durationMs: expect.any(Number) as number,
          msg: expect.stringMatching(`question ended with ${outcome} after`) as string,
        }),
      ]);
      for (const secret of saidIn(question))
        expect(own.map((line) => JSON.stringify(line)).join()).not.toContain(secret);
    });
  },
);

/** What must not be in a line: the message, the address, what was answered and what was called with. */
function saidIn({ message, url = 'http' }: { message: string; url?: string }): string[] {
  return [message, url, 'http', city, 'nights'];
}

async function letTimePass(service: Service, turn: ObservedTurn, isDelegated: boolean): Promise<void> {
  const temporal = environment;
  if (isDelegated) await untilDelegatesWait({ temporal, service }, turn, 'researcher', 1);
  else await untilWaiting({ temporal }, turn);
  await environment.sleep('11 minutes');
}

/** So that the next turn is asked again. */
async function removeAccount({ storage }: Service): Promise<void> {
  await storage.connections.remove({ tenant: 'demo', server: 'tracker', user: 'alice' });
}
