/** Runs the official conformance suite as its users do: as a command of its own, with ours to test. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import suite from '@modelcontextprotocol/conformance/package.json' with { type: 'json' };

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const program = path.join(path.dirname(manifest), suite.bin.conformance);
/** Ends a client that hangs; on a busy machine the slowest scenario takes half of it. */
export const scenarioTimeoutMs = 120_000;

export const suiteVersion = suite.version;

export interface Scenario {
  name: string;
  /** Of the protocol, oldest first; none for what belongs to an extension. */
  revisions: string[];
}

/** Everything the suite has for clients. */
export async function clientScenarios(): Promise<Scenario[]> {
  const { stdout } = await run(process.execPath, [program, 'list', '--client'], { cwd: root });
  const [, ofClients = ''] = stdout.split('Client scenarios');
  const lines = ofClients.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm);
  return [...lines].map(([, name = '', words = '']) => ({
    name,
    revisions: words.split(',').filter((word) => /^\d{4}-/.test(word)),
  }));
}

export interface Result {
  passed: number;
  /** What the scenario can also look at, and what did not occur. */
  skipped: number;
  /** In the suite's words: failures, warnings, and a client that ended badly. */
  complaints: string[];
}

export function runScenario(name: string, revision: string): Promise<Result> {
  const client = ['--command', 'node test/conformance/client.ts'];
  return runSuite(['client', ...client, '--scenario', name, '--spec-version', revision]);
}

async function runSuite(what: string[]): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  try {
    const limits = ['--timeout', String(scenarioTimeoutMs - 5_000)];
    const command = [...what, ...limits, '-o', folder];
    const env = {
      ...process.env,
      PATH: path.dirname(process.execPath) + path.delimiter + process.env['PATH'],
    };
    const ended = await run(process.execPath, [program, ...command], {
      cwd: root,
      env,
      timeout: scenarioTimeoutMs,
    }).then(
      () => [],
      (error: { stdout: string; stderr: string }) => [error.stdout + error.stderr],
    );
    // Below a folder for the scenario, whose name may have a slash in it.
    const files = await readdir(folder, { recursive: true });
    const checked = files.find((file) => path.basename(file) === 'checks.json');
    const text = checked === undefined ? '[]' : await readFile(path.join(folder, checked), 'utf8');
    const checks = JSON.parse(text) as { id: string; status: string; errorMessage?: string }[];
    const having = (...statuses: string[]) => checks.filter(({ status }) => statuses.includes(status));
    const broken = having('FAILURE', 'WARNING').map(({ id, errorMessage }) => `${id}: ${errorMessage}`);
    return {
      passed: having('SUCCESS').length,
      skipped: having('SKIPPED').length,
      complaints: broken.length > 0 ? broken : ended,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Everything of the 2026-07-28 revision and of its extensions that the suite has for servers. */
export async function serverScenarios(): Promise<string[]> {
  const { stdout } = await run(process.execPath, [program, 'list', '--server'], { cwd: root });
  const lines = stdout.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm);
  return [...lines].flatMap(([, name = '', words = '']) =>
    /2026-07-28|extension/.test(words) ? [name] : [],
  );
}

export function runServerScenario(name: string, url: string): Promise<Result> {
  const revision = /^(?:tasks|sep-2640)-/.test(name) ? [] : ['--spec-version', '2026-07-28'];
  return runSuite(['server', '--url', url, '--scenario', name, ...revision]);
}
