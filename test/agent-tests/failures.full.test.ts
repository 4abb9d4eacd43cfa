/** Tests of agents across crashes and faults of the service, and the command that runs them. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { callsTool, says, script, testAgents } from '../../src/agent-tests/index.ts';
import { testFolder } from '../test-folder.ts';
import { books, useAgents } from './agents-under-test.ts';

const under = useAgents();
const root = path.resolve(import.meta.dirname, '../..');

test('a turn that waits outlives a killed service', async () => {
  const agents = await testAgents(under);
  const turn = await agents.as('alice').send('assistant', 'Book Rome', { model: books() });
  const question = await turn.question();
  await agents.restart();
  await question.answer({ nights: 3 });
  expect(await turn.answer()).toBe('Booked.');
  expect(await turn.calls('book')).toEqual([{ arguments: { city: 'Rome' }, result: 'book: Rome for 3' }]);
});

test('a repeatable call that was under way when the service was killed counts twice', async () => {
  const agents = await testAgents(under);
  const model = script(callsTool('plan', { city: 'Oslo' }), says('Planned.'));
  const turn = await agents.as('alice').send('assistant', 'Plan Oslo', { model });
  const question = await turn.question();
  const stop = under.booking.stopAt('Oslo', 'after');
  await question.answer({ nights: 1 });
  await stop.arrived;
  await agents.restart();
  stop.release();
  expect(await turn.answer()).toBe('Planned.');
  expect(await turn.calls('plan')).toHaveLength(2);
});

test('a service that did not start is started again by the next test', async () => {
  const file = path.join(testFolder(), 'agents.yaml');
  writeFileSync(file, 'agents: {}');
  await expect(testAgents({ file })).rejects.toThrow('agents');
  writeFileSync(file, 'agents: { assistant: { model: "openai:test" } }');
  const turn = await (
    await testAgents({ file })
  )
    .as('alice')
    .send('assistant', 'Hello', { model: script(says('Hi.')) });
  expect(await turn.answer()).toBe('Hi.');
});

/** A service with what `plant` does to it. */
async function planted(plant: string) {
  const file = pathToFileURL(path.join(import.meta.dirname, 'fixtures', plant)).href;
  process.env['NODE_OPTIONS'] = `--import ${file}`;
  try {
    return await testAgents({ ...under, env: { ...under.env, MODEL_URL: `http://127.0.0.1:9/${plant}` } });
  } finally {
    delete process.env['NODE_OPTIONS'];
  }
}

test('a test whose service crashes fails with how it ended, and the next one gets another service', async () => {
  const agents = await planted('end-at-step.mjs');
  const turn = await agents.as('alice').send('assistant', 'Book Rome', { model: books() });
  await expect(turn.question()).rejects.toThrow(/The service under test ended \(7\)[^]*alice → assistant/);
  await expect(turn.calls('book')).rejects.toThrow('The service under test ended (7)');
  const env = { ...under.env, MODEL_URL: 'http://127.0.0.1:9/end-at-step.mjs' };
  const again = await testAgents({ ...under, env });
  const other = await again.as('alice').send('assistant', 'Hi', { model: script(says('Hello.')) });
  expect(await other.answer()).toBe('Hello.');
});

test('a planted second execution is noticed', async () => {
  const agents = await planted('send-twice.mjs');
  const turn = await agents.as('alice').send('assistant', 'Book Bern', { model: books('Bern') });
  await (await turn.question()).answer({ nights: 2 });
  expect(await turn.answer()).toBe('Booked.');
  expect(under.booking.done.filter((words) => words.includes('Bern'))).toHaveLength(2);
  expect(await turn.calls('book')).toHaveLength(2);
});

const page = readFileSync(path.join(root, 'docs/testing-agents.md'), 'utf8');

/** In the checkout, where the name of its own package leads to it. */
function folderOfPage(): string {
  const folder = path.join(root, 'build', `testing-agents-${process.pid}-${performance.now()}`);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [, name = '', text = ''] of page.matchAll(
    /```\w+\n(?:\/\/|#) ([\w./-]+\.(?:ts|yaml))\n([^]*?)```/g,
  )) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

function interludeTest(folder: string, ...words: string[]): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [path.join(root, 'src/cli/checkout.ts'), 'test', ...words],
      { cwd: folder, env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } },
      (error, output, errors) => resolve({ code: error?.code ?? 0, output: output + errors }),
    ),
  );
}

test('docs/testing-agents.md runs as printed; a failure prints the transcript, and ends though its turn waits', async () => {
  const folder = folderOfPage();
  const passed = await interludeTest(folder, '--junit', 'report.xml');
  expect(passed).toMatchObject({ code: 0, output: expect.stringContaining('books a table') as string });
  expect(readFileSync(path.join(folder, 'report.xml'), 'utf8')).toContain('<testcase name="books a table"');

  const file = path.join(folder, 'book.test.ts');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/await question\.answer.*/, "throw new Error('Sorry.');"),
  );
  const failed = await interludeTest(folder, 'book.test.ts');
  expect(failed.code).toBe(1);
  expect(failed.output).toContain('alice → assistant: A table for four');

  expect(await interludeTest(folder, 'nowhere.test.ts')).toMatchObject({ code: 2 });
});

test('a runner ends after its hook has left the agents, though a turn waits', async () => {
  const folder = folderOfPage();
  const hooks = `before(async () => { agents = await testAgents({ file }); });
after(() => agents.leave());
test('asks', async () => {
  await (await agents.as('alice').send('assistant', 'A table for four', { model })).question();
});`;
  const head = readFileSync(path.join(folder, 'book.test.ts'), 'utf8').split("test('books a table'")[0];
  const imports = head
    ?.replace('{ test }', '{ after, before, test }')
    .replace('withAgents }', 'testAgents, type Agents }');
  writeFileSync(path.join(folder, 'hooks.test.ts'), `${imports}let agents: Agents;\n${hooks}\n`);
  expect(await interludeTest(folder, 'hooks.test.ts')).toMatchObject({ code: 0 });
});
