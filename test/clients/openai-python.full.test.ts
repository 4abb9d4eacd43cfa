/** OpenAI's own client for Python against the whole service. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pythonWith } from '../programs/python-package.ts';
import type { Python } from '../programs/python-package.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import { connectAccount } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const script = fileURLToPath(new URL('openai-python.py', import.meta.url));
const installingMs = 240_000;

let python: Python;
const { service } = useService();
let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
let trouble: Promise<string>;
let lines: AsyncIterator<string>;

beforeAll(async () => {
  python = await pythonWith('openai', '3.54.0');
  if (python.kind === 'missing') return;
  const env = { ...process.env, NO_PROXY: '127.0.0.1' };
  child = spawn(python.executable, [script], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  trouble = text(child.stderr);
  lines = createInterface(child.stdout)[Symbol.asyncIterator]();
}, installingMs);
afterAll(() => void child?.kill());
beforeEach(({ skip }) => {
  if (python.kind === 'missing') skip(python.why);
});

interface Told {
  question?: { status: string; url: string };
  finish?: string;
  text?: string;
  total?: number;
  done?: true;
  [member: string]: unknown;
}

interface Options {
  user?: 'alice' | 'bob';
  headers?: Record<string, string>;
  model?: string;
  url?: string;
}

/** What Python tells of it; alice connects as soon as she is asked. */
async function run(what: string, prompt: string, options: Options = {}): Promise<Told[]> {
  const { user = 'bob', headers = {}, model = 'assistant', url = service.baseUrl } = options;
  const task = { what, prompt, headers, model, url: `${url}/run/v1`, token: await service.token(user) };
  child?.stdin.write(`${JSON.stringify(task)}\n`);
  const told: Told[] = [];
  for (;;) {
    const { done, value } = await lines.next();
    if (done === true) throw new Error(`Python ended: ${await trouble}`);
    const said = JSON.parse(value) as Told;
    if (said.done) return told;
    told.push(said);
    if (said.question?.status === 'pending') await connectAccount('alice', said.question.url);
  }
}

const questions = (told: Told[]) => told.flatMap(({ question }) => question?.status ?? []);
const ends = (told: Told[]) => told.flatMap(({ finish }) => finish ?? []);

test.each(['iterate', 'helper'])(
  '%s: the question is beside the chunks, and the answer goes on',
  async (what) => {
    service.tracker.revoke('alice');
    const headers = { 'x-supports-elicitation': 'url' };
    const told = await run(what, 'list my open issues', { user: 'alice', headers });
    expect(questions(told)).toEqual(['pending', 'accept']);
    expect(ends(told)).toEqual(['stop']);
    expect(told.at(-1)?.text).toMatch(/^Here they are: #\d+ /);
  },
);

test.each(['iterate', 'helper', 'whole'])('%s: who cannot ask gets a clean answer', async (what) => {
  const told = await run(what, 'list my open issues');
  expect(questions(told)).toEqual([]);
  expect(ends(told)).toEqual(['stop']);
  expect(told.at(-1)?.text).toMatch(/Tracker/);
  expect(JSON.stringify(told)).not.toMatch(/elicitation|auth\/connect/);
});

test('the tokens are counted in a stream and in a completion', async () => {
  const counted = (told: Told[]) => told.flatMap(({ total }) => total ?? []);
  const [streamed, whole] = [await run('iterate', 'hello'), await run('whole', 'hello')];
  expect(counted(streamed)).toEqual([expect.any(Number)]);
  expect(counted(whole)).toEqual(counted(streamed));
});

test('what is refused is an error of the class that the client has for it', async () => {
  expect(await run('whole', 'hello', { model: 'nobody' })).toEqual([
    {
      error: 'NotFoundError',
      status: 404,
      code: 'model_not_found',
      param: null,
      message: expect.stringContaining('nobody') as string,
    },
  ]);
  expect(await run('whole', ' ')).toMatchObject([
    { error: 'BadRequestError', status: 400, code: 'invalid_request', param: 'messages[0].content' },
  ]);
});

test('a turn that fails in the middle of its stream is an error, after what it had said', async () => {
  const headers = { 'x-supports-elicitation': 'url' };
  await run('iterate', 'list my open issues', { user: 'alice', headers });
  const told = await run('iterate', 'go round in circles', { user: 'alice', headers });
  expect(told).toMatchObject([
    { text: expect.stringMatching(/^Round 0\. \n\nRound 1\. /) as string },
    { error: 'APIError', code: 'MaxStepsReached' },
  ]);
});

test('a request that the client sends again after a cut joins its turn', async () => {
  const headers = { 'x-supports-elicitation': 'url' };
  await run('iterate', 'list my open issues', { user: 'alice', headers });
  const proxy = await startTcpProxy({
    to: Number(new URL(service.baseUrl).port),
    plan: (index) => (index === 0 ? [{ kind: 'cut', at: { bytes: 0 } }] : []),
  });
  const told = await run('whole', 'create an issue called Once', { user: 'alice', url: proxy.url });
  await proxy.stop();
  expect(told).toContainEqual({ retries: 1 });
  expect(told.at(-1)).toEqual({ text: 'Created.' });
  const issues = service.tracker.issues.list({ state: 'all', assignee: null });
  expect(issues.filter(({ title }) => title === 'Once')).toHaveLength(1);
});

test('the models can be listed and read', async () => {
  const [told] = await run('models', '');
  expect(told).toMatchObject({ models: expect.arrayContaining(['assistant']) as string[], one: 'assistant' });
});
