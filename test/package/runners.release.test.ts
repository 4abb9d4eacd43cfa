/** Tests of agents in the runners of docs/testing-agents.md, as the page says it, with packages of this checkout from a registry. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bareEnvironment } from '../bare-environment.ts';
import { readGuide } from '../guides/guide.ts';
import { supportedNodes } from '../programs/npm-program.ts';
import { testFolder } from '../test-folder.ts';
import { buildPackages } from './installed.ts';

const page = readFileSync(new URL('../../docs/testing-agents.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| ([\w: ]+) \| `(import [^`]+)` \| `([^`]+)` \|$/gm)].map(
  ([, runner = '', line = '', command = '']) => ({ runner, line, command }),
);
const files = readGuide('testing-agents').flatMap((block) => (block.kind === 'file' ? block : []));
const example = files.find(({ name }) => name === 'book.test.ts')?.text ?? '';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'interlude-runners-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  await using built = await buildPackages('packages', 'service', 'runners');
  const ours = ['@interlude-ai/service', '@interlude-ai/tools', 'zod'];
  await built.install(folder, [...ours, 'vitest', 'jest', 'mocha', 'ava']);
  for (const { name, text } of files) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
});

test('the page names each runner that is tried', () => {
  expect(rows.map(({ runner }) => runner)).toEqual(['node:test', 'Vitest 5', 'Jest 30', 'Mocha 12', 'AVA 7']);
});

test("without Temporal's CLI, a runner names at once the command that fetches it", async () => {
  writeFileSync(path.join(folder, 'book.spec.js'), example);
  const env = { ...bareEnvironment(), XDG_CACHE_HOME: testFolder() };
  const run = promisify(execFile)('node', ['--test', 'book.spec.js'], { cwd: folder, env });
  await expect(run).rejects.toMatchObject({
    stdout: expect.stringContaining('Fetch it once: npx interlude test --prepare') as string,
  });
});

describe.each(await supportedNodes())('with %s', (node) => {
  describe.each(rows)('$runner', ({ line, command }) => {
    /** Resolves when it has ended by itself. */
    function run(code: string): Promise<{ code: unknown; output: string; temporary: string }> {
      writeFileSync(
        path.join(folder, 'book.spec.js'),
        code.replace("import { test } from 'node:test';", () => line),
      );
      const temporary = testFolder();
      const PATH = [path.dirname(node), process.env['PATH']].join(path.delimiter);
      const env = { ...bareEnvironment(), PATH, TMPDIR: temporary, NO_COLOR: '1' };
      return new Promise((resolve) =>
        execFile('sh', ['-c', command], { cwd: folder, env }, (error, output, errors) =>
          resolve({ code: error?.code ?? 0, output: output + errors, temporary }),
        ),
      );
    }

    test('passes, ends by itself, and leaves nothing', async () => {
      const { code, output, temporary } = await run(example);
      expect(code, output).toBe(0);
      expect(output).not.toContain('did not exit');
      const left = () => readdirSync(temporary).filter((name) => name.startsWith('interlude-agent-tests-'));
      await expect.poll(left).toEqual([]);
    });

    test('fails with the transcript where an expectation is wrong', async () => {
      const { code, output } = await run(
        example.replace("'Booked.');\n  assert.deep", "'Sorry.');\n  assert.deep"),
      );
      expect(code, output).toBe(1);
      expect(output).toMatch(/Sorry\.[^]*alice → assistant: A table for four[^]*assistant: Booked\./);
    });
  });
});
