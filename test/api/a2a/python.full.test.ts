/** Python's client calls our agents, over each transport and version: it finds the card, is asked, answers, watches and cancels. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { pythonWith } from '../../programs/python-package.ts';
import type { Python } from '../../programs/python-package.ts';
import { asks, done, form } from '../../servers/scripted-mcp-server.ts';

const run = promisify(execFile);
const script = path.join(import.meta.dirname, 'python-client.py');
const setup = useAskingService();
let python: Python;
beforeAll(async () => {
  python = await pythonWith('a2a-sdk', '1.3.0');
});

test.for([
  ['JSONRPC', '1.0'],
  ['HTTP+JSON', '1.0'],
  ['JSONRPC', '0.3'],
])('over %s of %s', async ([binding = '', version = ''], { skip }) => {
  if (python.kind === 'missing') return skip(python.why);
  const question = asks({ city: form('Which city?', { city: { type: 'string' } }) });
  setup.server.play(question, done(), question);
  const url = `${setup.service.baseUrl}/run/agents/assistant/a2a`;
  const token = await setup.service.token('alice');
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NO_PROXY: '127.0.0.1', PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await run(python.executable, [script, url, token, binding, version], { env });
  expect(JSON.parse(stdout)).toEqual({
    name: 'Assistant',
    asked: 'TASK_STATE_INPUT_REQUIRED',
    answered: 'TASK_STATE_COMPLETED',
    answer: 'done',
    watched: 'TASK_STATE_COMPLETED',
    got: 'TASK_STATE_COMPLETED',
    cancelled: 'TASK_STATE_CANCELED',
    listed: version === '1.0' ? 1 : null,
    unknown: 'TaskNotFoundError',
  });
});
