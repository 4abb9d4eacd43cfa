/** A client in Python over the types of `ag-ui-protocol`, which has no client of its own. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { pythonWith } from '../../programs/python-package.ts';
import type { Python } from '../../programs/python-package.ts';
import { asks, done, page } from '../../servers/scripted-mcp-server.ts';
import { askBoth, askCity, useAgUiService } from './runs.ts';
import { runUrl } from './stock-client.ts';

const run = promisify(execFile);
const script = path.join(import.meta.dirname, 'python-client.py');
const setup = useAgUiService();
let python: Python;
beforeAll(async () => {
  python = await pythonWith('ag-ui-protocol', '1.0.0', 'httpx==0.28.1');
}, 120_000);

test('talks, is asked everything, is refused, and runs tools', { timeout: 60_000 }, async ({ skip }) => {
  if (python.kind === 'missing') return skip(python.why);
  const link = asks({ there: page('https://example.com/a') });
  const answered = [askCity(), done(), askBoth(), done('declined'), askCity(), done('closed')];
  setup.server.play(...answered, link, done('opened'), done('removed'), askCity());
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NO_PROXY: '127.0.0.1', PYTHONDONTWRITEBYTECODE: '1' };
  const tokens = [await setup.service.token('alice'), await setup.service.token('bob')];
  const given = [script, runUrl(setup.service, 'browser'), ...tokens];
  const { stdout } = await run(python.executable, given, { env });
  expect(JSON.parse(stdout)).toEqual({
    plain: ['success', 'You said: hello'],
    form: ['mcp_elicitation: Which city?'],
    wrong: 'interrupt',
    unknown: 'elicitation_not_found',
    stranger: 'conversation_not_found',
    answered: ['success', 'done'],
    several: ['mcp_elicitation: Which city?', 'mcp_elicitation: Which day?'],
    declined: ['success', 'declined'],
    cancelled: ['success', 'closed'],
    link: 'https://example.com/a',
    opened: ['success', 'opened'],
    approval: ['approval: Browser wants to remove in Asking. Approve this?'],
    approved: ['success', 'removed'],
    'front end': ['success', 'It is dark.'],
    again: ['accept'],
    superseded: ['success', 'You said: hello again'],
  });
});
