/**
 * Prometheus and promtool: those in PROMETHEUS_PATH, a folder, else built once from their Go module into the cache of built
 * tools, which takes ten minutes on two processors.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installInto, onPath, run, timed } from '../../scripts/setup/steps.mjs';
import { cacheFolder } from '../../scripts/setup/tools.mjs';
import { freePort } from '../free-port.ts';
import { startProgram } from './running-program.ts';
import type { RunningProgram } from './running-program.ts';

const version = 'v0.316.0';
const programs = ['prometheus', 'promtool'] as const;

export type PrometheusPrograms =
  | { kind: 'ready'; prometheus: string; promtool: string }
  | { kind: 'missing'; why: string };

/** Says so where there is none, so that its tests are not missed silently. */
export async function findPrometheus(): Promise<PrometheusPrograms> {
  const given = process.env['PROMETHEUS_PATH'];
  const folder = given ?? path.join(cacheFolder, `prometheus-${version}`);
  if (given === undefined && !existsSync(folder)) {
    const why = await build(folder);
    if (why !== null) {
      process.stderr.write(`No Prometheus: ${why}\n`);
      return { kind: 'missing', why };
    }
  }
  const [prometheus, promtool] = programs.map((name) => path.join(folder, name));
  return { kind: 'ready', prometheus: prometheus!, promtool: promtool! };
}

async function build(folder: string): Promise<string | null> {
  if (onPath('go') === undefined)
    return 'there is no Go to build it with; PROMETHEUS_PATH names a folder that has it';
  try {
    await installInto(folder, (draft) =>
      timed(`building Prometheus ${version} with Go (once, ten minutes)`, async () => {
        const modules = programs.map((name) => `github.com/prometheus/prometheus/cmd/${name}@${version}`);
        await run('go', ['install', '-ldflags=-s -w', ...modules], { env: { ...process.env, GOBIN: draft } });
      }),
    );
    return null;
  } catch (error) {
    return `it cannot be built: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export interface Prometheus extends AsyncDisposable {
  url: string;
  /** Where it takes OTLP. */
  otlpUrl: string;
  /** The series of an instant query: labels and value. Rejects where Prometheus refuses the query. */
  query(expression: string): Promise<{ labels: Record<string, string>; value: number }[]>;
  get(path: string): Promise<unknown>;
}

interface ScrapedTarget {
  job: string;
  port: number;
}

/** Scrapes each second. What was scraped has the label `via="scrape"`. */
export async function startPrometheus(
  executable: string,
  { targets, rules }: { targets: ScrapedTarget[]; rules: string },
): Promise<Prometheus> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-prometheus-'));
  const port = await freePort();
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: targets.map(({ job, port: at }) => ({
      job_name: job,
      static_configs: [{ targets: [`127.0.0.1:${at}`], labels: { via: 'scrape' } }],
    })),
  };
  const file = path.join(folder, 'prometheus.yml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config));
  const running = startProgram(executable, [
    `--config.file=${file}`,
    `--storage.tsdb.path=${path.join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--web.enable-otlp-receiver',
    '--log.level=warn',
  ]);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(running, url);

  async function get(at: string): Promise<unknown> {
    const response = await fetch(url + at);
    const body = (await response.json()) as { status: string; data: unknown; error?: string };
    if (body.status !== 'success') throw new Error(`${decodeURIComponent(at)}: ${body.error}`);
    return body.data;
  }

  return {
    url,
    otlpUrl: `${url}/api/v1/otlp/v1/metrics`,
    get,
    async query(expression) {
      const data = (await get(`/api/v1/query?query=${encodeURIComponent(expression)}`)) as {
        resultType: string;
        result: { metric: Record<string, string>; value: [number, string] }[];
      };
      return data.resultType === 'vector'
        ? data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }))
        : [];
    },
    async [Symbol.asyncDispose]() {
      await running.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady({ isAlive, written }: RunningProgram, url: string): Promise<void> {
  for (;;) {
    if (!isAlive()) throw new Error(`Prometheus did not start:\n${written.both.slice(-4_000)}`);
    const response = await fetch(`${url}/-/ready`).catch(() => null);
    if (response?.ok) return;
    await sleep(200);
  }
}
