/** Every kind of question, and each of its ends: the span of the wait, and a trace that is whole and without an error. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asks, done, form, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedReply, ScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import { respond } from '../../service/asking.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { startService } from '../../service/service.ts';
import type { Service } from '../../service/service.ts';
import { createTimeSkipping, temporalOf } from '../../time-skipping.ts';
import { untilDelegatesWait, untilWaiting } from '../../workflows/waiting.ts';
import { hasEnded, startExporting } from './exporting.ts';
import type { Exporting } from './exporting.ts';

const stack = new AsyncDisposableStack();
let environment: TestWorkflowEnvironment;
let exporting: Exporting;
let server: ScriptedMcpServer;
let service: Service;

beforeAll(async () => {
  exporting = await startExporting();
  stack.defer(() => exporting.stop());
  environment = await createTimeSkipping();
  stack.defer(() => environment.teardown());
  server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  const INTERLUDE_CONFIG = fileURLToPath(new URL('../../fixtures/trace-agents.yaml', import.meta.url));
  const env = { INTERLUDE_CONFIG, ASKING_URL: server.url };
  service = await startService({ temporal: temporalOf(environment), env });
  stack.defer(() => service.stop());
});
afterAll(() => stack.disposeAsync());

interface Kind {
  text: string;
  agentId?: string;
  moves?: ScriptedReply[];
  attributes: Record<string, unknown>;
}

const account = { trigger: 'credential_required', mode: 'url', server: 'tracker', credentialType: 'oauth' };
const kinds: Record<string, Kind> = {
  'for an account': { text: 'list my open issues', attributes: account },
  "of a delegate's for an account": {
    text: 'ask the researcher to list my open issues',
    agentId: 'lead',
    attributes: { ...account, path: ['researcher'], 'gen_ai.agent.name': 'researcher' },
  },
  'of a server': {
    text: 'call asking__ask {}',
    moves: [asks({ city: form('Which city?') }), done()],
    attributes: { trigger: 'mcp_elicitation', mode: 'form', server: 'asking', toolName: 'ask' },
  },
  'for an approval': {
    text: 'call approved__ask {}',
    moves: [done()],
    attributes: { trigger: 'approval', mode: 'form', server: 'approved', toolName: 'ask' },
  },
};
const names = { accept: 'completed', decline: 'declined', cancel: 'cancelled', expired: 'timeout' };
type Outcome = keyof typeof names;

describe.each(Object.entries(kinds))('a question %s', (_, { text, agentId, moves = [], attributes }) => {
  test.each(Object.keys(names) as Outcome[])('that ends with %s', async (outcome) => {
    await service.storage.connections.remove({ tenant: 'demo', server: 'tracker', user: 'alice' });
    server.play(...moves);
    const alice = await service.as('alice');
    const conversation = randomUUID();
    const stream = await alice.chat(text, { conversation, ...(agentId !== undefined && { agentId }) });
    const { elicitationId, url, mode } = await stream.question('pending');
    if (outcome === 'expired') {
      const turn = { conversation, stream };
      if (agentId === undefined) await untilWaiting({ temporal: environment }, turn);
      else await untilDelegatesWait({ temporal: environment, service }, turn, 'researcher', 1);
      await environment.sleep('11 minutes');
    } else if (outcome === 'accept' && mode === 'url') await connectAccount('alice', url);
    else {
      const content = attributes['trigger'] === 'approval' ? undefined : { city: 'Lisbon' };
      const response = { action: outcome, ...(outcome === 'accept' && content && { content }) };
      await respond(alice, conversation, { elicitationId }, response);
    }
    await stream.finished();

    const name = `elicitation.${names[outcome]}`;
    const spans = await exporting.trace(
      stream.turnId,
      (all) => hasEnded(all) && all.some((span) => span.name === name),
    );
    const root = spans.find(({ parentId }) => parentId === '');
    expect(spans.filter((span) => /^elicitation\.(?!requested)/.test(span.name))).toEqual([
      expect.objectContaining({
        name,
        parentId: root?.spanId,
        attributes: expect.objectContaining({
          ...attributes,
          elicitationId,
          toolId: expect.any(String) as string,
          userId: 'alice',
          outcome,
          duration: expect.any(Number) as number,
          deadline: expect.any(String) as string,
        }) as object,
      }),
    ]);
    expect(spans.filter((span) => span.name === 'elicitation.requested')).toHaveLength(1);
    expect(spans.filter(({ isError }) => isError)).toEqual([]);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
    expect(spans.filter((span) => span !== root && !ids.has(span.parentId))).toEqual([]);
  });
});
