/**
 * A real Prometheus reads a scripted run of real processes, by scraping and by OTLP, and answers each query that we publish.
 * promtool runs the tests of the alert rules.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createDeployment, someKeys } from '../../e2e/deployment.ts';
import { freePort } from '../../free-port.ts';
import { findPrometheus, startPrometheus } from '../../programs/prometheus.ts';
import type { Prometheus } from '../../programs/prometheus.ts';
import { startAskingServer } from '../../servers/asking-server.ts';
import { inTheRun, playScript } from './scripted-run.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const rules = path.join(root, 'deploy/prometheus/alerts.yaml');
const run = promisify(execFile);
const buildingMs = 1_500_000;

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string }[];
}
const dashboardText = readFileSync(path.join(root, 'deploy/grafana/interlude.json'), 'utf8');
const { panels } = JSON.parse(dashboardText) as { panels: Panel[] };

/** What is rare in a healthy run, so that its panel or alert is empty. */
const rare = [/^Requests to models that fail$/, /^Clocks$/];

describe('the dashboard', () => {
  test('fits the types that Grafana publishes', async () => {
    const folder = await mkdtemp(path.join(root, 'node_modules/.cache/dashboard-'));
    const file = path.join(folder, 'dashboard.ts');
    const check = async (text: string) => {
      await writeFile(
        file,
        `import type { Dashboard, Panel, RowPanel } from '@grafana/schema';
type Given = Omit<Dashboard, 'panels'> & { panels: (Panel | RowPanel)[] };
export const dashboard: Given = ${text};\n`,
      );
      const options = [
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        '--module',
        'preserve',
        '--target',
        'esnext',
      ];
      const tsc = path.join(root, 'node_modules/.bin/tsc');
      return run(tsc, [...options, '--ignoreConfig', file], { cwd: root }).then(
        () => 'fits',
        (error: { stdout: string }) => error.stdout,
      );
    };
    try {
      expect(await check(dashboardText)).toBe('fits');
      expect(await check(dashboardText.replace('"schemaVersion"', '"schemaVersionn"'))).toContain(
        'schemaVersionn',
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('Prometheus', () => {
  const stack = new AsyncDisposableStack();
  let prometheus: Prometheus;
  let promtool: string;
  let missing: string | undefined;

  beforeAll(async () => {
    const found = await findPrometheus();
    if (found.kind === 'missing') {
      missing = found.why;
      return;
    }
    ({ promtool } = found);
    const [apiPort, workerPort] = [await freePort(), await freePort()];
    prometheus = stack.use(
      await startPrometheus(found.prometheus, {
        targets: [
          { job: 'interlude-api', port: apiPort },
          { job: 'interlude-worker', port: workerPort },
        ],
        rules,
      }),
    );
    const asking = await startAskingServer({ era: 'modern' });
    stack.defer(() => asking.stop());
    const temporalPort = await freePort();
    const deployment = await createDeployment({
      env: {
        TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
        INTERLUDE_KEYS: someKeys,
        ROUNDS_URL: asking.config.url,
        ELICITATION_TIMEOUT: '15s',
        OTEL_METRICS_EXPORTER: 'prometheus,otlp',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: prometheus.otlpUrl,
        OTEL_METRIC_EXPORT_INTERVAL: '1000',
      },
    });
    stack.defer(() => deployment.stop());
    await deployment.startTemporal(temporalPort);
    await Promise.all([
      deployment.start('server', { INTERNAL_PORT: String(apiPort) }),
      deployment.start('worker', { INTERNAL_PORT: String(workerPort) }),
    ]);
    // Series have to be there before they grow.
    const until = (query: string, fits: (value: number | undefined) => boolean) =>
      vi.waitFor(async () => expect((await prometheus.query(query))[0]?.value).toSatisfy(fits), {
        timeout: 30_000,
        interval: 500,
      });
    for (const via of ['', 'scrape'])
      for (const series of ['interlude_questions_opened_total', 'interlude_questions_settled_total'])
        await until(`count(count by (job, instance) (${series}{via=~"${via}"}))`, (value) => value === 2);
    await playScript({
      as: (user) => deployment.caller(user),
      tracker: deployment.tracker,
      untilExpired: async ({ stream }) => void (await stream.question('expired')),
    });
    for (const via of ['', 'scrape'])
      await until(
        `sum(interlude_turn_duration_seconds_count{via=~"${via}"})`,
        (value) => value === inTheRun.turns,
      );
  }, buildingMs);
  afterAll(() => stack.disposeAsync());

  test('has the same names by both ways, Temporal’s own included', async ({ skip }) => {
    if (missing !== undefined) skip(missing);
    const names = async (via: string) => {
      const match = encodeURIComponent(`{__name__=~"(interlude|gen_ai|temporal)_.+",via=~"${via}"}`);
      const series = (await prometheus.get(`/api/v1/series?match[]=${match}`)) as { __name__: string }[];
      return [...new Set(series.map(({ __name__: name }) => name))].toSorted();
    };
    const scraped = await names('scrape');
    expect(scraped.length).toBeGreaterThan(40);
    expect(scraped).toContain('temporal_workflow_task_schedule_to_start_latency_seconds_bucket');
    expect(await names('')).toEqual(scraped);
  });

  test('answers each query of the dashboard, and has data for it', async ({ skip }) => {
    if (missing !== undefined) skip(missing);
    const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    expect(queries.length).toBeGreaterThan(30);
    const empty: string[] = [];
    for (const { title, expr } of queries) {
      const found = await prometheus.query(
        expr.replaceAll('$job', '.*').replaceAll('$__rate_interval', '5m'),
      );
      if (found.length === 0) empty.push(title);
    }
    expect(empty.filter((title) => !rare.some((pattern) => pattern.test(title)))).toEqual([]);
  });

  test('answers each query of the page about metrics, with the figures of the run', async ({ skip }) => {
    if (missing !== undefined) skip(missing);
    const page = readFileSync(path.join(root, 'docs/metrics.md'), 'utf8');
    const blocks = [...page.matchAll(/```promql\n(.*?)```/gs)].map(([, query = '']) => query);
    const inline = [...page.matchAll(/`((?:sum|max|histogram_quantile)[^`]+)`/g)].map(
      ([, query = '']) => query,
    );
    expect(blocks).toHaveLength(6);
    expect(inline.length).toBeGreaterThanOrEqual(3);
    for (const query of inline) await prometheus.query(query);
    const values = [];
    for (const query of blocks) {
      // Each was counted twice: by scraping, and by OTLP.
      const found = await prometheus.query(query);
      values.push(found.map(({ value }) => value));
    }
    const [failed, completed, refused, timedOut, connected] = values;
    expect(failed?.[0]).toBeCloseTo(0.5, 1);
    expect(completed?.[0]).toBeCloseTo(1.5, 1);
    expect(refused?.[0]).toBeCloseTo(0.5, 1);
    expect(timedOut?.some((share) => Math.abs(share - 0.25) < 0.05)).toBe(true);
    expect(connected?.[0]).toBeGreaterThan(0);
  });

  test('evaluates each alert rule', async ({ skip }) => {
    if (missing !== undefined) skip(missing);
    interface Group {
      rules: { name: string; health: string; lastError?: string }[];
    }
    const read = async () => {
      const { groups } = (await prometheus.get('/api/v1/rules')) as { groups: Group[] };
      return groups.flatMap((group) => group.rules);
    };
    await expect.poll(async () => (await read()).every(({ health }) => health !== 'unknown')).toBe(true);
    const evaluated = await read();
    expect(evaluated.length).toBeGreaterThan(10);
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
  });

  test('each alert rule fires and is silent as its tests say', async ({ skip }) => {
    if (missing !== undefined) skip(missing);
    const tests = path.join(root, 'deploy/prometheus/alerts.test.yaml');
    const text = readFileSync(tests, 'utf8');
    const names = [...readFileSync(rules, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
    for (const name of names) {
      expect(text).toContain(`name: ${name} fires`);
      expect(text).toContain(`name: ${name} is silent`);
    }
    await run(promtool, ['check', 'rules', rules]);
    const { stdout } = await run(promtool, ['test', 'rules', tests]).catch(
      (error: { stdout: string; stderr: string }) => {
        throw new Error(error.stdout + error.stderr);
      },
    );
    expect(stdout).toContain('SUCCESS');
  });
});
