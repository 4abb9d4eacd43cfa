/** The example's page with assistant-ui; the one with CopilotKit, whose packages are large, is tested before a release. */
import { afterAll, beforeAll } from 'vitest';
import { startExample } from './ag-ui-example.ts';
import type { Example } from './ag-ui-example.ts';
import { testPage } from './ag-ui-journeys.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample(['assistant-ui']);
}, 180_000);
afterAll(() => example.stop());

testPage('assistant-ui', () => example);
