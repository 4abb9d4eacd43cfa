/** Runs the official conformance suite as its users do: as a command of its own, with ours to test. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { npmProgram } from '../programs/npm-program.ts';
import suite from '@modelcontextprotocol/conformance/package.json' with { type: 'json' };

const execute = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const program = path.join(path.dirname(manifest), suite.bin.conformance);
/** Ends a client that hangs; on a busy machine the slowest scenario takes half of it. */
export const scenarioTimeoutMs = 120_000;

export const suiteVersion = suite.version;

/** The newest of the suite, and the last one before the revisions without sessions. */
export const suites = {
  newest: () => Promise.resolve(program),
  '0.1.16': async () =>
    path.join(await npmProgram('@modelcontextprotocol/conformance', '0.1.16'), suite.bin.conformance),
};

export interface Scenario {
  name: string;
  /** Of the protocol, oldest first; none for what belongs to an extension. */
  revisions: string[];
}

/** Everything the suite has for clients. */
export async function clientScenarios(): Promise<Scenario[]> {
  const { stdout } = await execute(process.execPath, [program, 'list', '--client'], { cwd: root });
  const [, ofClients = ''] = stdout.split('Client scenarios');
  return listedIn(ofClients);
}

/** And for servers. */
export async function serverScenarios(): Promise<Scenario[]> {
  const { stdout } = await execute(process.execPath, [program, 'list', '--server'], { cwd: root });
  return listedIn(stdout);
}

function listedIn(text: string): Scenario[] {
  return [...text.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name = '', words = '']) => ({
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
  const client = ['--command', `node test/conformance/client.ts ${revision}`];
  const limit = ['--timeout', String(scenarioTimeoutMs - 5_000)];
  return runSuite(['client', ...client, '--scenario', name, '--spec-version', revision, ...limit]);
}

async function runSuite(what: string[]): Promise<Result> {
  const { ended, results } = await run(program, what);
  const [result] = results.values();
  const { complaints = [], ...rest } = result ?? { passed: 0, skipped: 0 };
  return { ...rest, complaints: complaints.length > 0 ? complaints : ended };
}

/** Every scenario that a version of the suite has for servers; with `revision`, those that belong to it. */
export async function runServerScenarios(
  suiteProgram: string,
  url: string,
  revision?: string,
): Promise<Map<string, Result>> {
  const of = revision === undefined ? [] : ['--spec-version', revision];
  const { ended, results } = await run(suiteProgram, ['server', '--url', url, '--suite', 'all', ...of]);
  if (results.size === 0) throw new Error(`the suite has run nothing: ${ended.join('\n')}`);
  return results;
}

/** By scenario; and what the suite says when it is not content. */
async function run(
  suiteProgram: string,
  what: string[],
): Promise<{ results: Map<string, Result>; ended: string[] }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  try {
    const command = [...what, '-o', folder];
    const env = {
      ...process.env,
      PATH: path.dirname(process.execPath) + path.delimiter + process.env['PATH'],
    };
    const ended = await execute(process.execPath, [suiteProgram, ...command], {
      cwd: root,
      env,
      timeout: scenarioTimeoutMs,
    }).then(
      () => [],
      (error: { stdout: string; stderr: string }) => [error.stdout + error.stderr],
    );
    // Below a folder for the scenario, whose name may have a slash in it.
    const files = await readdir(folder, { recursive: true });
    const checked = files.filter((file) => path.basename(file) === 'checks.json');
    const results = checked.map(async (file) => {
      const checks = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Check[];
      const [, name = file] = /^(?:server-)?(.*)-\d{4}-\d\d-\d\dT/.exec(path.dirname(file)) ?? [];
      return [name, toResult(checks)] as const;
    });
    return { results: new Map(await Promise.all(results)), ended };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

function toResult(checks: Check[]): Result {
  const having = (...statuses: string[]) => checks.filter(({ status }) => statuses.includes(status));
  return {
    passed: having('SUCCESS').length,
    skipped: having('SKIPPED').length,
    complaints: having('FAILURE', 'WARNING').map(({ id, errorMessage }) => `${id}: ${errorMessage}`),
  };
}
