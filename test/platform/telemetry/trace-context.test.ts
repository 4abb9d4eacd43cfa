/** What passes between our trace and those of others: callers above us, servers below us. */
import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectAgent } from '../../api/a2a/a2a-client.ts';
import { useAskingService } from '../../asking/asking-service.ts';
import { connectClient } from '../../mcp/mcp-client.ts';
import { startScriptedAgent } from '../../servers/scripted-agent.ts';
import type { ScriptedAgent } from '../../servers/scripted-agent.ts';
import { done } from '../../servers/scripted-mcp-server.ts';
import { useService } from '../../service/use-service.ts';
import { hasEnded, startExporting } from './exporting.ts';
import type { Exporting } from './exporting.ts';
import type { ExportedSpan } from './otlp-receiver.ts';

let exporting: Exporting;
beforeAll(async () => {
  exporting = await startExporting();
});
afterAll(() => exporting.stop());

/** The headers of all requests that the server below has had. */
const received: Record<string, unknown>[] = [];
beforeEach(() => received.splice(0));
const letsIn = (_response: unknown, { headers }: { headers: object }) => {
  received.push({ ...headers });
  return true;
};
const INTERLUDE_CONFIG = fileURLToPath(new URL('../../fixtures/trace-agents.yaml', import.meta.url));

const callersTrace = randomUUID().replaceAll('-', '');
const callersSpan = callersTrace.slice(0, 16);
const traceparent = `00-${callersTrace}-${callersSpan}-01`;
const fromCaller = { traceparent, tracestate: 'theirs=1', baggage: 'secret=yes' };
const linked = (spans: ExportedSpan[], what: string) =>
  spans
    .find(({ name }) => name === 'turn assistant')
    ?.links.filter(({ attributes }) => attributes['interlude.link'] === what);

describe('by default', () => {
  const setup = useAskingService({ letsIn, env: { INTERLUDE_CONFIG } });

  test('a server receives the span that calls it, in its header and in _meta, and nothing else', async () => {
    const { stream } = await setup.begin([done()], { headers: fromCaller });
    await stream.finished();
    const spans = await exporting.trace(stream.turnId, hasEnded);
    const call = spans.find(({ name }) => name === 'execute_tool ask');
    const expected = `00-${call?.traceId}-${call?.spanId}-01`;
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ traceparent: expected });
    const [{ params } = { params: {} }] = setup.server.calls;
    expect(params).toMatchObject({ _meta: { traceparent: expected } });
    expect(JSON.stringify([received, params])).not.toMatch(/theirs=1|secret=yes|tracestate|baggage/);
  });

  test('a server whose traceparent is switched off receives none', async () => {
    const { stream } = await setup.begin([done()], { text: 'call apart__ask {}' });
    await stream.finished();
    expect(setup.server.calls).toHaveLength(1);
    expect(JSON.stringify([received, setup.server.calls])).not.toContain('traceparent');
  });

  test("a caller's trace is linked, and does not become ours", async () => {
    const { stream } = await setup.begin([done()], { headers: fromCaller });
    await stream.finished();
    const spans = await exporting.trace(stream.turnId, hasEnded);
    expect(linked(spans, 'caller')).toEqual([
      expect.objectContaining({ traceId: callersTrace, spanId: callersSpan }),
    ]);
    expect(exporting.spans.filter(({ traceId }) => traceId === callersTrace)).toEqual([]);
  });

  test('a caller that does not sample its trace does not switch ours off', async () => {
    const { stream } = await setup.begin([done()], {
      headers: { traceparent: traceparent.replace(/01$/, '00') },
    });
    await stream.finished();
    expect((await exporting.trace(stream.turnId, hasEnded)).length).toBeGreaterThan(3);
  });

  test.each(['nonsense', '00-00000000000000000000000000000000-0000000000000000-01'])(
    'a caller that sends %s starts a turn like any other',
    async (given) => {
      const { stream } = await setup.begin([done()], { headers: { traceparent: given } });
      await stream.finished();
      expect(linked(await exporting.trace(stream.turnId, hasEnded), 'caller')).toEqual([]);
    },
  );

  test("an MCP client's trace, in _meta, is linked with the turn", async () => {
    setup.server.play(done());
    await using client = await connectClient(setup.service);
    const { structuredContent } = await client.callTool({
      name: 'ask_assistant',
      arguments: { message: 'hello' },
      _meta: { traceparent },
    });
    const { turnId = '' } = structuredContent as { turnId?: string };
    const spans = await exporting.trace(turnId, hasEnded);
    expect(linked(spans, 'caller')).toEqual([
      expect.objectContaining({ traceId: callersTrace, spanId: callersSpan }),
    ]);
  });
});

describe('with callers that are trusted', () => {
  const setup = useAskingService({ letsIn, env: { INTERLUDE_CONFIG, TRUST_TRACEPARENT: 'true' } });

  test("a turn goes on in its caller's trace, as do the calls below it", async () => {
    const { stream } = await setup.begin([done()], { headers: fromCaller });
    await stream.finished();
    const own = () => exporting.spans.filter(({ traceId }) => traceId === callersTrace);
    const named = (wanted: string) => own().filter(({ name }) => name === wanted);
    await exporting.until(() => named('chat scripted').length === 2 && named('turn assistant').length === 1);
    // Ends once the stream is closed, and may be exported last.
    await exporting.until(() => own().some(({ parentId }) => parentId === callersSpan));
    const request = own().find(({ parentId }) => parentId === callersSpan);
    expect(request?.name).toBe('POST /run/api/chat');
    expect(own().find(({ name }) => name === 'turn assistant')?.parentId).toBe(request?.spanId);
    expect(received[0]).toMatchObject({
      traceparent: expect.stringMatching(new RegExp(`^00-${callersTrace}-`)) as string,
    });
    expect(received[0]).not.toHaveProperty('baggage');
  });
});

describe('over A2A', () => {
  let agent: ScriptedAgent;
  const { alice, service } = useService({
    async needs(stack) {
      agent = await startScriptedAgent();
      stack.defer(() => agent.stop());
      const config = fileURLToPath(new URL('../../fixtures/remote-agents.yaml', import.meta.url));
      return { env: { INTERLUDE_CONFIG: config, FLIGHTS_CARD: agent.card } };
    },
  });

  test('a remote agent receives the span that invokes it', async () => {
    const sent: string[] = [];
    const onHeaders = (message: unknown) => void sent.push((message as { headers: string }).headers);
    subscribe('undici:client:sendHeaders', onHeaders);
    try {
      const stream = await alice.chat('ask the flights to answer three', { headers: fromCaller });
      await stream.finished();
      const spans = await exporting.trace(stream.turnId, hasEnded);
      const call = spans.find(({ name }) => name === 'invoke_agent flights');
      expect(call).toMatchObject({ kind: 3, attributes: { server: 'flights' } });
      const told = sent.filter((headers) =>
        headers.includes(`traceparent: 00-${call?.traceId}-${call?.spanId}-01`),
      );
      expect(told.some((headers) => headers.startsWith('POST '))).toBe(true);
      expect(told.join()).not.toMatch(/theirs=1|secret=yes/);
    } finally {
      unsubscribe('undici:client:sendHeaders', onHeaders);
    }
  });

  test("an A2A client's trace is linked with the turn", async () => {
    const client = await connectAgent(service, { headers: { traceparent } });
    const task = await client.send('hello');
    const spans = await exporting.trace(task.id, hasEnded);
    expect(linked(spans, 'caller')).toEqual([
      expect.objectContaining({ traceId: callersTrace, spanId: callersSpan }),
    ]);
  });
});
