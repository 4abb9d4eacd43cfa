/** A client in Python over the types of `ag-ui-protocol`, which has no client of its own. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { pythonWith } from '../../programs/python-package.ts';
import type { Python } from '../../programs/python-package.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { runUrl } from './stock-client.ts';

const run = promisify(execFile);
const script = path.join(import.meta.dirname, 'python-client.py');
const setup = useAskingService();
let python: Python;
beforeAll(async () => {
  python = await pythonWith('ag-ui-protocol', '1.0.0', 'httpx==0.28.1');
}, 120_000);

test('is asked, answers a wrong form again, and goes on', { timeout: 60_000 }, async ({ skip }) => {
  if (python.kind === 'missing') return skip(python.why);
  setup.server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NO_PROXY: '127.0.0.1', PYTHONDONTWRITEBYTECODE: '1' };
  const given = [script, runUrl(setup.service), await setup.service.token('alice')];
  const { stdout } = await run(python.executable, given, { env });
  expect(JSON.parse(stdout)).toEqual({
    asked: ['interrupt', 'mcp_elicitation', 'Which city?'],
    wrong: 'interrupt',
    unknown: 'elicitation_not_found',
    answered: ['success', 'done'],
  });
});
