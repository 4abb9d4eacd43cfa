/** How metrics leave a process: scraped on the internal port, sent to a collector, and kept few. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { startInternalServer } from '../../../src/platform/processes/internal-server.ts';
import { callLeftUnfinished } from '../../../src/platform/telemetry/events.ts';
import {
  modelCalled,
  observeFigures,
  serverRefused,
  turnWasEnded,
} from '../../../src/platform/telemetry/metrics/instruments.ts';
import { watchFigures } from '../../../src/platform/telemetry/metrics/start-metrics.ts';
import type { Metrics } from '../../../src/platform/telemetry/metrics/start-metrics.ts';
import { startTelemetry } from '../../../src/platform/telemetry/start-telemetry.ts';
import type { Figures } from '../../../src/storage/tables/oversight.ts';
import { freePort } from '../../free-port.ts';
import { samplesIn, sumOf } from './prometheus-text.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});
const silent = pino({ level: 'silent' });
const about = { service: 'interlude', version: '1', secret: (name: string) => secrets.get(name) };
const secrets = new Map<string, string>();

async function start({ prometheus = true, otlp = false } = {}, logger = silent): Promise<Metrics> {
  const telemetry = {
    traces: false,
    metrics: { prometheus, otlp, exportIntervalMs: 100 },
    trustsCallers: false,
  };
  const metrics = await startTelemetry({ telemetry, servers: new Map() }, { ...about, logger }, stack);
  if (!metrics) throw new Error('metrics are on');
  return metrics;
}

const scraped = async (metrics: Metrics) => samplesIn((await metrics.scrape?.()) ?? '');

describe('/metrics', () => {
  test('is on the internal port, with units in the names as Prometheus spells them', async () => {
    const metrics = await start();
    const internal = { host: '127.0.0.1', port: await freePort() };
    await startInternalServer({ internal }, stack, metrics);
    turnWasEnded('assistant', { status: 'failed', code: 'ModelRefused', durationMs: 1_500 });
    const response = await fetch(`http://127.0.0.1:${internal.port}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const samples = samplesIn(await response.text());
    const about = { agent: 'assistant', status: 'failed', error_type: 'ModelRefused' };
    expect(sumOf(samples, 'interlude_turn_duration_seconds_count', about)).toBe(1);
    expect(sumOf(samples, 'interlude_turn_duration_seconds_sum', about)).toBe(1.5);
  });

  test('has no names that clients chose for tools of their front ends', async () => {
    const metrics = await start();
    const turn = { tenant: 'acme', conversation: 'c', turnId: 'turn' };
    for (const toolName of ['set_theme', 'set_font', 'ask_user', 'desk__list'])
      callLeftUnfinished(silent, turn, { toolCallId: 'call', toolName, createdAt: 0, outcome: 'cancel' });
    const text = (await metrics.scrape?.()) ?? '';
    expect(text).not.toContain('set_');
    const cancelled = (about: Record<string, string>) =>
      sumOf(samplesIn(text), 'interlude_tool_calls_ended_total', { outcome: 'cancel', ...about });
    expect(cancelled({ gen_ai_tool_name: 'unfinished' })).toBe(2);
    expect(cancelled({ gen_ai_tool_name: 'ask_user' })).toBe(1);
    expect(cancelled({ server: 'desk' })).toBe(1);
  });

  test('says how metrics are switched on where they are off', async () => {
    const internal = { host: '127.0.0.1', port: await freePort() };
    await startInternalServer({ internal }, stack);
    const response = await fetch(`http://127.0.0.1:${internal.port}/metrics`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('OTEL_METRICS_EXPORTER=prometheus');
  });

  test('is answered in time while the database is not, without what is in the database', async () => {
    const metrics = await start();
    stack.defer(watchFigures({ figures: () => new Promise(() => undefined) }));
    turnWasEnded('assistant', { status: 'completed', code: undefined, durationMs: 1 });
    const samples = await scraped(metrics);
    expect(samples.some(({ name }) => name === 'interlude_turn_duration_seconds_count')).toBe(true);
    expect(samples.some(({ name }) => name.startsWith('interlude_turns_live'))).toBe(false);
  });

  test('reads the database once for scrapes that follow each other closely', async () => {
    const metrics = await start();
    let reads = 0;
    const figures: Figures = {
      questions: [{ server: null, open: 7, overdue: 0 }],
      turns: { starting: 0, waiting: 0, running: 0 },
      outbox: { pending: 0, overdueMs: 2_500 },
    };
    stack.defer(
      watchFigures({
        figures() {
          reads += 1;
          return Promise.resolve(figures);
        },
      }),
    );
    for (let scrape = 0; scrape < 3; scrape++)
      expect(sumOf(await scraped(metrics), 'interlude_questions_open')).toBe(7);
    expect(sumOf(await scraped(metrics), 'interlude_outbox_overdue_seconds')).toBe(2.5);
    expect(reads).toBe(1);
  });

  test('shows 0 for a server once none of its questions is open', async () => {
    const metrics = await start();
    const nothing = {
      turns: { starting: 0, waiting: 0, running: 0 },
      outbox: { pending: 0, overdueMs: 0 },
    };
    let questions: Figures['questions'] = [{ server: 'tracker', open: 2, overdue: 1 }];
    stack.defer(observeFigures(() => Promise.resolve({ ...nothing, questions })));
    const overdue = async () =>
      sumOf(await scraped(metrics), 'interlude_questions_overdue', { server: 'tracker' });
    expect(await overdue()).toBe(1);
    questions = [];
    expect(await overdue()).toBe(0);
  });
});

describe('an instrument', () => {
  test('keeps at most 500 series, and counts the rest together', async () => {
    const metrics = await start();
    for (let number = 0; number < 3_000; number++) serverRefused(`server-${number}`, 401, 'renewed');
    const samples = (await scraped(metrics)).filter(({ name }) => name === 'interlude_server_refusals_total');
    expect(samples.length).toBeLessThanOrEqual(500);
    expect(sumOf(samples, 'interlude_server_refusals_total')).toBe(3_000);
    expect(
      sumOf(samples, 'interlude_server_refusals_total', { otel_metric_overflow: 'true' }),
    ).toBeGreaterThan(2_000);
  });

  test('ignores what is recorded while metrics are off, and works when they are switched on later', async () => {
    const call = { agent: 'writer', model: 'openai:some-model', durationMs: 20 };
    modelCalled(call);
    const unwatch = observeFigures(() => Promise.resolve(null));
    unwatch();
    const metrics = await start();
    modelCalled({ ...call, usage: { inputTokens: 5, outputTokens: 2 } });
    const about = { gen_ai_provider_name: 'openai', gen_ai_request_model: 'some-model' };
    const samples = await scraped(metrics);
    expect(sumOf(samples, 'gen_ai_client_inference_duration_seconds_count', about)).toBe(1);
    expect(sumOf(samples, 'gen_ai_client_inference_usage_input_tokens_total', about)).toBe(5);
  });
});

describe('a collector', () => {
  async function receive(
    answer: (count: number) => number | null,
  ): Promise<{ bodies: Buffer[]; headers: IncomingHttpHeaders[]; received(count: number): Promise<void> }> {
    const bodies: Buffer[] = [];
    const headers: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        bodies.push(Buffer.concat(chunks));
        headers.push(request.headers);
        const status = answer(bodies.length);
        if (status !== null) response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    process.env['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'] = `http://127.0.0.1:${port}/v1/metrics`;
    stack.defer(() => {
      delete process.env['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'];
      server.closeAllConnections();
      server.close();
    });
    return {
      bodies,
      headers,
      received: (count) => expect.poll(() => bodies.length).toBeGreaterThanOrEqual(count),
    };
  }

  test('receives the metrics by OTLP, with the resource of the process and the headers of a secret file', async () => {
    secrets.set('OTEL_EXPORTER_OTLP_HEADERS', 'x-api-key=collector-key');
    stack.defer(() => secrets.clear());
    const { bodies, headers, received } = await receive(() => 200);
    await start({ prometheus: false, otlp: true });
    turnWasEnded('assistant', { status: 'completed', code: undefined, durationMs: 1_500 });
    await received(1);
    const body = bodies[0]?.toString('latin1');
    for (const text of ['service.name', 'interlude.turn.duration', 'assistant']) expect(body).toContain(text);
    expect(headers[0]?.['x-api-key']).toBe('collector-key');
  });

  test('may ask for differences, and Prometheus reads totals all the same', async () => {
    const preference = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE';
    stack.defer(() => void delete process.env[preference]);
    for (const temporality of ['cumulative', 'delta']) {
      process.env[preference] = temporality;
      const { bodies, received } = await receive(() => 200);
      const metrics = await start({ prometheus: true, otlp: true });
      turnWasEnded('assistant', { status: 'completed', code: undefined, durationMs: 1 });
      await received(1);
      turnWasEnded('assistant', { status: 'completed', code: undefined, durationMs: 1 });
      await received(bodies.length + 1);
      expect(sumOf(await scraped(metrics), 'interlude_turn_duration_seconds_count')).toBe(2);
      await metrics.close();
    }
  });

  test('that fails is a warning, once, and the exports that failed are counted', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const { received } = await receive(() => 400);
    const metrics = await start({ prometheus: true, otlp: true }, logger);
    turnWasEnded('assistant', { status: 'completed', code: undefined, durationMs: 1 });
    await received(3);
    const dropped = async () =>
      sumOf(await scraped(metrics), 'interlude_telemetry_dropped_total', { signal: 'metrics' });
    await expect.poll(dropped).toBeGreaterThanOrEqual(2);
    expect(lines.filter((line) => line.includes('telemetry is not exported'))).toHaveLength(1);
  });

  test('that never answers keeps no process from ending', async () => {
    const { received } = await receive(() => null);
    const metrics = await start({ prometheus: false, otlp: true });
    turnWasEnded('assistant', { status: 'completed', code: undefined, durationMs: 1 });
    await received(1);
    await metrics.close();
  });
});
