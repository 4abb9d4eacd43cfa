/** What operators see of a scripted run: in `/metrics`, and in the log. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { beginSeries } from '../../../src/platform/telemetry/metrics/instruments.ts';
import { startMetrics, watchFigures } from '../../../src/platform/telemetry/metrics/start-metrics.ts';
import { startAskingServer } from '../../servers/asking-server.ts';
import { startService } from '../../service/service.ts';
import type { Service } from '../../service/service.ts';
import { createTimeSkipping, temporalOf } from '../../time-skipping.ts';
import { idOf, isWaiting } from '../../workflows/waiting.ts';
import { samplesIn, sumOf } from './prometheus-text.ts';
import type { Sample } from './prometheus-text.ts';
import { inTheRun, playScript, said } from './scripted-run.ts';

type Line = Record<string, unknown> & { msg: string; level: number };

const agentsFile = fileURLToPath(new URL('../../fixtures/e2e-agents.yaml', import.meta.url));
const page = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const stack = new AsyncDisposableStack();
const lines: string[] = [];
const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
let environment: TestWorkflowEnvironment;
let service: Service;
let text: string;
let samples: Sample[];
let tokens: string[];
const parsed = () => lines.map((line) => JSON.parse(line) as Line);
const total = (name: string, labels?: Record<string, string>) => sumOf(samples, name, labels);

beforeAll(async () => {
  environment = await createTimeSkipping();
  stack.defer(() => environment.teardown());
  const metrics = await startMetrics(
    { prometheus: true, otlp: false, exportIntervalMs: 60_000 },
    { service: 'interlude', version: '1', secret: () => undefined, logger },
  );
  stack.defer(() => metrics.close());
  const asking = await startAskingServer({ era: 'modern' });
  stack.defer(() => asking.stop());
  const env = { INTERLUDE_CONFIG: agentsFile, ROUNDS_URL: asking.config.url };
  beginSeries(loadConfig({ ...env, TRACKER_URL: 'http://127.0.0.1:4/mcp' }, '/tmp').servers.values());
  service = await startService({ temporal: temporalOf(environment), logger, env });
  stack.defer(() => service.stop());
  stack.defer(watchFigures(service.storage, 0));
  await playScript({
    as: (user) => service.as(user),
    tracker: service.tracker,
    async untilExpired(turn) {
      const untilWaiting = async () => {
        if (!(await isWaiting({ temporal: environment }, idOf(turn))))
          throw new Error('the turn does not wait');
      };
      await vi.waitFor(untilWaiting);
      await environment.sleep('11 minutes');
    },
  });
  tokens = await Promise.all(['alice', 'bob'].map((user) => service.token(user)));
  text = (await metrics.scrape?.()) ?? '';
  samples = samplesIn(text);
}, 120_000);
afterAll(() => stack.disposeAsync());

describe('the metrics of a scripted run', () => {
  test('count questions by outcome, trigger and server', () => {
    const account = { trigger: 'credential_required', server: 'tracker' };
    for (const [outcome, count] of Object.entries(inTheRun.accountQuestions)) {
      expect(total('interlude_questions_settled_total', { ...account, outcome })).toBe(count);
      expect(total('interlude_question_duration_seconds_count', { ...account, outcome })).toBe(count);
    }
    const form = { trigger: 'mcp_elicitation', server: 'rounds' };
    for (const [outcome, count] of Object.entries(inTheRun.forms))
      expect(total('interlude_questions_settled_total', { ...form, outcome })).toBe(count);
    expect(total('interlude_questions_opened_total')).toBe(total('interlude_questions_settled_total'));
  });

  test('have the success measures: failing account questions, 401s for each of them, time-outs, adoption', () => {
    const asked = total('interlude_questions_opened_total', { trigger: 'credential_required' });
    const settled = (outcome: string) =>
      total('interlude_questions_settled_total', { trigger: 'credential_required', outcome });
    expect(1 - settled('accept') / asked).toBe(0.5);
    expect(settled('accept') / (settled('decline') + settled('expired'))).toBe(1);
    expect(settled('expired') / asked).toBe(0.25);
    expect(total('interlude_server_refusals_total', { status: '401' }) / asked).toBe(0.5);
    expect(total('interlude_connections_established_total', { server: 'tracker' })).toBe(2);
  });

  test('count each 401, those included that another token cured', () => {
    for (const [followed, count] of Object.entries(inTheRun.refusals))
      expect(total('interlude_server_refusals_total', { server: 'tracker', status: '401', followed })).toBe(
        count,
      );
    expect(total('interlude_server_refusals_total')).toBe(2);
  });

  test('time turns, models, tools and what follows from answers', () => {
    expect(total('interlude_turn_duration_seconds_count', { status: 'completed' })).toBe(inTheRun.turns);
    const model = { gen_ai_provider_name: 'scripted', gen_ai_operation_name: 'chat' };
    expect(total('gen_ai_client_inference_duration_seconds_count', model)).toBeGreaterThan(inTheRun.turns);
    expect(total('gen_ai_client_inference_usage_output_tokens_total', model)).toBeGreaterThan(0);
    expect(total('gen_ai_execute_tool_duration_seconds_count', { server: 'rounds' })).toBe(4);
    const ended = samples.filter(
      ({ name, value }) => name === 'interlude_tool_calls_ended_total' && value > 0,
    );
    const counts = ended.map(({ labels, value }) => [labels['server'], labels['outcome'], value].join(' '));
    expect(counts.toSorted()).toEqual([
      'rounds ok 1',
      'rounds tool_error 1',
      'tracker decline 1',
      'tracker expired 1',
      'tracker ok 4',
    ]);
    // Both accounts, both forms.
    expect(total('interlude_answer_effect_duration_seconds_count')).toBe(4);
    expect(total('interlude_log_lag_seconds_count')).toBeGreaterThan(0);
  });

  test('have what is in the database, and no stream once its reader has all of it', () => {
    const states = samples.filter(({ name }) => name === 'interlude_turns_live');
    expect(states.map(({ labels }) => labels['state']).toSorted()).toEqual([
      'running',
      'starting',
      'waiting',
    ]);
    expect(total('interlude_turns_live')).toBe(0);
    for (const name of [
      'interlude_questions_open',
      'interlude_questions_overdue',
      'interlude_outbox_pending',
    ])
      expect(samples.filter((sample) => sample.name === name).map(({ value }) => value)).toEqual([0]);
    expect(samples.some(({ name }) => name === 'interlude_streams_open')).toBe(true);
    expect(total('interlude_streams_open')).toBe(0);
  });

  test('have labels from the configuration and from fixed codes only', () => {
    const labels = new Map<string, Set<string>>();
    for (const sample of samples)
      if (sample.name !== 'target_info')
        for (const [name, value] of Object.entries(sample.labels))
          labels.set(name, (labels.get(name) ?? new Set()).add(value));
    const names = [...labels.keys()].toSorted();
    expect(names).toEqual([
      'agent',
      'error_type',
      'followed',
      'from',
      'gen_ai_agent_name',
      'gen_ai_operation_name',
      'gen_ai_provider_name',
      'gen_ai_request_model',
      'gen_ai_token_modality',
      'le',
      'outcome',
      'route',
      'server',
      'signal',
      'state',
      'status',
      'trigger',
    ]);
    expect([...(labels.get('server') ?? [])].toSorted()).toEqual([
      'detached',
      'held',
      'pages',
      'rounds',
      'tracker',
    ]);
    for (const word of ['alice', 'bob', 'demo', 'list_issues', 'book', ...said, ...tokens])
      expect(text).not.toContain(word);
  });

  test('are all on the page about metrics', () => {
    const docs = page('metrics.md');
    const names = new Set(samples.map(({ name }) => name.replace(/_(bucket|count|sum)$/, '')));
    names.delete('target_info');
    expect(names.size).toBeGreaterThan(15);
    expect([...names].filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the log of a scripted run', () => {
  test('has a line for each end of a tool call, with its server, outcome, attempt and duration', () => {
    const calls = parsed().filter(({ msg }) => / called \w+ of \w+: /.test(msg));
    expect(calls).toHaveLength(8);
    expect(calls.map(({ outcome }) => outcome)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'decline',
      'expired',
      'ok',
      'tool_error',
    ]);
    for (const call of calls)
      expect(call).toMatchObject({
        tenant: 'demo',
        toolCallId: expect.any(String) as string,
        toolName: expect.stringMatching(/^(connect_tracker|list_issues|book)$/) as string,
        server: expect.stringMatching(/^(tracker|rounds)$/) as string,
        attempt: 1,
        durationMs: expect.any(Number) as number,
      });
  });

  test('has a line for each request, with the pattern of its route and without its query', () => {
    const requests = parsed().filter(({ msg }) => msg === 'request');
    expect(requests.length).toBeGreaterThan(20);
    expect(requests).toContainEqual(
      expect.objectContaining({
        method: 'POST',
        route: '/run/api/chat',
        status: 200,
        tenant: 'demo',
        conversation: expect.any(String) as string,
        durationMs: expect.any(Number) as number,
      }),
    );
    expect(requests).toContainEqual(expect.objectContaining({ method: 'GET', route: '/auth/connect' }));
    for (const request of requests) expect(JSON.stringify(request)).not.toContain('?');
  });

  test('names tenant and conversation in each line about a turn', () => {
    const about = parsed().filter((line) => 'turnId' in line);
    expect(about.length).toBeGreaterThan(30);
    expect(about.filter((line) => !('tenant' in line && 'conversation' in line))).toEqual([]);
  });

  test('has no error: what is refused, renewed or repeated is none', () => {
    expect(parsed().filter(({ level }) => level >= 50)).toEqual([]);
  });

  test('has no field that the page about logs does not name', () => {
    const docs = page('logs.md');
    const fields = new Set(parsed().flatMap((line) => Object.keys(line)));
    expect(fields.size).toBeGreaterThan(20);
    const unnamed = [...fields].filter((field) => !docs.includes(`| \`${field}\``));
    expect(unnamed).toEqual([]);
  });

  test('has nothing that people, models or tools said, and no token', () => {
    const all = lines.join('');
    for (const word of [...said, ...tokens]) expect(all).not.toContain(word);
  });
});
