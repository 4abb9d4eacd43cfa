/** The whole example: its types, and CopilotKit's page and runtime. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExample } from './ag-ui-example.ts';
import type { Example } from './ag-ui-example.ts';
import { testPage } from './ag-ui-journeys.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample(['assistant-ui', 'copilotkit']);
}, 300_000);
afterAll(() => example.stop());

testPage('copilotkit', () => example);

test('its types hold', async () => {
  const compiler = path.resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', example.folder]);
});

test('CopilotKit’s runtime has no access of its own', async () => {
  const response = await fetch(`${example.origin}/api/copilotkit/agent/assistant/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      threadId: crypto.randomUUID(),
      runId: crypto.randomUUID(),
      messages: [{ id: crypto.randomUUID(), role: 'user', content: 'hello' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  });
  expect(await response.text()).toMatch(/RUN_ERROR.*HTTP 401/);
});
