/** The trace of a turn, as a collector receives it: every span of it, its place, and what it says. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { spanIdOf } from '../../../src/platform/telemetry/traces/tracing.ts';
import { turnWorkflowId } from '../../../src/turn/turn.ts';
import { bundleTools } from '../../durable-tools/bundle-tools.ts';
import { respond } from '../../service/asking.ts';
import type { ChatStream } from '../../service/chat-stream.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { useService } from '../../service/use-service.ts';
import { hasEnded, startExporting, treeOf } from './exporting.ts';
import type { Exporting } from './exporting.ts';
import type { ExportedSpan } from './otlp-receiver.ts';

let exporting: Exporting;
const bundle = await bundleTools();
const used = useService({
  tools: { assistant: bundle },
  async needs(stack) {
    exporting = await startExporting();
    stack.defer(() => exporting.stop());
    return {};
  },
});

/** Without the requests of libraries, which are leaves. */
const isOurs = ({ name }: ExportedSpan) => !/^(GET|POST|DELETE)$/.test(name);
const traceOf = async (stream: ChatStream, isThere = hasEnded) =>
  (await exporting.trace(stream.turnId, isThere)).filter(isOurs);
const named = (spans: ExportedSpan[], name: string) => spans.filter((span) => span.name === name);
const one = (spans: ExportedSpan[], name: string) => {
  const [span, ...others] = named(spans, name);
  if (!span || others.length > 0) throw new Error(`There are ${named(spans, name).length} spans "${name}".`);
  return span;
};

async function connected(text: string, options: Parameters<typeof used.alice.chat>[1] = {}) {
  await used.service.storage.connections.remove({ tenant: 'demo', server: 'tracker', user: 'alice' });
  const stream = await used.alice.chat(text, options);
  const { url, elicitationId } = await stream.question('pending');
  const waiting = await traceOf(stream, (spans) => named(spans, 'invoke_agent assistant').length > 0);
  await connectAccount('alice', url);
  await stream.finished();
  return { stream, elicitationId, waiting, spans: await traceOf(stream) };
}

test('a turn with a question is a root, a span for each phase, and one over the wait between them', async () => {
  const conversation = randomUUID();
  const { stream, elicitationId, waiting, spans } = await connected('list my open issues', { conversation });

  expect(treeOf(waiting)).toEqual([
    'turn assistant',
    '  invoke_agent assistant',
    '    chat scripted',
    '    execute_tool connect_tracker',
    '      elicitation.requested',
  ]);
  expect(treeOf(spans)).toEqual([
    ...treeOf(waiting),
    '  elicitation.completed',
    '  invoke_agent assistant',
    '    execute_tool connect_tracker',
    '    chat scripted',
    '    execute_tool list_issues',
    '    chat scripted',
  ]);
  const wait = one(spans, 'elicitation.completed');
  const [before, after] = named(spans, 'invoke_agent assistant');
  expect(wait).toMatchObject({
    spanId: spanIdOf('wait', elicitationId),
    isError: false,
    attributes: {
      'interlude.turn.id': stream.turnId,
      'interlude.tenant': 'demo',
      'gen_ai.conversation.id': conversation,
      'gen_ai.agent.name': 'assistant',
      elicitationId,
      toolId: expect.any(String) as string,
      server: 'tracker',
      credentialType: 'oauth',
      trigger: 'credential_required',
      mode: 'url',
      userId: 'alice',
      outcome: 'accept',
      duration: wait.end - wait.start,
      deadline: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    },
  });
  expect(before).toMatchObject({
    end: wait.start,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'interlude.turn.status': 'waiting' },
    events: [
      {
        name: 'gen_ai.agent.paused',
        attributes: {
          'gen_ai.agent.execution.id': stream.turnId,
          'gen_ai.agent.pause.id': elicitationId,
          'gen_ai.agent.pause.reason': 'human_input',
        },
      },
    ],
  });
  expect(after).toMatchObject({
    start: wait.end,
    attributes: { 'interlude.turn.status': 'completed' },
    links: [{ spanId: wait.spanId, attributes: { 'interlude.link': 'wait' } }],
    events: [{ name: 'gen_ai.agent.resumed', attributes: { 'gen_ai.agent.resumed_from.id': elicitationId } }],
  });
  expect(named(spans, 'chat scripted')[0]).toMatchObject({
    kind: 3,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.input_tokens': expect.any(Number) as number,
      'interlude.step': 0,
    },
  });
  expect(one(spans, 'execute_tool list_issues').attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'list_issues',
    'gen_ai.tool.call.id': expect.any(String) as string,
    'mcp.method.name': 'tools/call',
    server: 'tracker',
  });
  // Nothing names the user or the conversation in one half only.
  for (const span of spans)
    expect(span.attributes).toMatchObject({ userId: 'alice', 'gen_ai.conversation.id': conversation });
});

test('the wait is linked with the request that ended it, and a turn with the one before', async () => {
  const conversation = randomUUID();
  const { stream, spans } = await connected('list my open issues', { conversation });
  const { traceId, spanId } = one(spans, 'turn assistant');
  const [link] = one(spans, 'elicitation.completed').links;
  await exporting.until((all) => all.some((span) => span.spanId === link?.spanId));
  const request = exporting.spans.find((span) => span.spanId === link?.spanId);
  expect(link?.attributes).toEqual({ 'interlude.link': 'answer' });
  expect(request).toMatchObject({ kind: 2, traceId: link?.traceId, parentId: '' });
  expect(request?.attributes['http.route']).toMatch(/^\/auth\/callback/);

  const next = await used.alice.chat('hello', { conversation });
  await next.finished();
  const root = one(await traceOf(next), 'turn assistant');
  expect(root.traceId).not.toBe(traceId);
  expect(root.links).toContainEqual({ traceId, spanId, attributes: { 'interlude.link': 'previous turn' } });
  expect(stream.turnId).not.toBe(next.turnId);
});

test('a delegate has phases of its own below those of the agent that asked it', async () => {
  await used.service.storage.connections.remove({ tenant: 'demo', server: 'tracker', user: 'alice' });
  const stream = await used.alice.chat('ask the researcher to list my open issues', { agentId: 'lead' });
  const { url } = await stream.question('pending');
  await connectAccount('alice', url);
  await stream.finished();
  const spans = await traceOf(
    stream,
    (all) => hasEnded(all) && named(all, 'invoke_agent researcher').length === 2,
  );
  expect(treeOf(spans)).toEqual([
    'turn lead',
    '  invoke_agent lead',
    '    chat scripted',
    '    invoke_agent researcher',
    '      chat scripted',
    '      execute_tool list_issues',
    '        elicitation.requested',
    '  elicitation.completed',
    '  invoke_agent lead',
    '    invoke_agent researcher',
    '      execute_tool list_issues',
    '      chat scripted',
    '    chat scripted',
  ]);
  expect(one(spans, 'elicitation.completed').attributes).toMatchObject({ path: ['researcher'] });
});

test('an answer that is cancelled ends the trace without an error, as does one that is declined', async () => {
  for (const [action, name] of [
    ['decline', 'elicitation.declined'],
    ['cancel', 'elicitation.cancelled'],
  ] as const) {
    await used.service.storage.connections.remove({ tenant: 'demo', server: 'tracker', user: 'alice' });
    const conversation = randomUUID();
    const stream = await used.alice.chat('list my open issues', { conversation });
    await respond(used.alice, conversation, await stream.question('pending'), { action });
    await stream.finished();
    const spans = await traceOf(stream);
    expect(one(spans, name).attributes).toMatchObject({ outcome: action });
    expect(spans.filter(({ isError }) => isError)).toEqual([]);
  }
});

test('a turn that is cancelled while it waits has the span of its wait, and nothing of it is left over', async () => {
  await used.service.storage.connections.remove({ tenant: 'demo', server: 'tracker', user: 'alice' });
  const conversation = randomUUID();
  const stream = await used.alice.chat('list my open issues', { conversation });
  await stream.question('pending');
  await used.alice.cancel(conversation);
  await stream.finished();
  const spans = await traceOf(stream, (all) => named(all, 'elicitation.cancelled').length > 0);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(spans.filter(({ parentId }) => parentId !== '' && !ids.has(parentId))).toEqual([]);
  expect(ids.size).toBe(spans.length);
  expect(spans.filter(({ isError }) => isError)).toEqual([]);
});

test('a turn that is ended from outside while it waits says how it ended in its trace', async () => {
  await used.service.storage.connections.remove({ tenant: 'demo', server: 'tracker', user: 'alice' });
  const conversation = randomUUID();
  const stream = await used.alice.chat('list my open issues', { conversation });
  await stream.question('pending');
  const workflowId = turnWorkflowId({ tenant: 'demo', conversation, turnId: stream.turnId });
  await used.temporal.client.workflow.getHandle(workflowId).terminate();
  await stream.finished();
  const spans = await traceOf(stream);
  const { end } = one(spans, 'elicitation.cancelled');
  expect(named(spans, 'invoke_agent assistant').at(-1)).toMatchObject({
    start: end,
    end,
    isError: true,
    attributes: { 'interlude.turn.status': 'failed', 'error.type': 'TurnTerminated' },
  });
});

test('a tool in TypeScript is one span, also where it asks, and its effects are spans', async () => {
  const plain = await used.alice.chat('call jot {"line":"milk"}');
  await plain.finished();
  expect(treeOf(await traceOf(plain))).toEqual([
    'turn assistant',
    '  invoke_agent assistant',
    '    chat scripted',
    '    execute_tool jot',
    '    chat scripted',
  ]);

  const conversation = randomUUID();
  const asking = await used.alice.chat('call delete_page {"page":"home"}', { conversation });
  const question = await asking.question('pending');
  await respond(used.alice, conversation, question, { action: 'accept', content: { confirmed: true } });
  await asking.finished();
  const spans = await traceOf(asking);
  expect(treeOf(spans)).toEqual([
    'turn assistant',
    '  invoke_agent assistant',
    '    chat scripted',
    '    execute_tool delete_page',
    '  elicitation.requested',
    '  elicitation.completed',
    '  invoke_agent assistant',
    '    effect note',
    '    chat scripted',
  ]);
  expect(one(spans, 'elicitation.completed').attributes).toMatchObject({
    trigger: 'tool_elicitation',
    toolName: 'delete_page',
  });
});
