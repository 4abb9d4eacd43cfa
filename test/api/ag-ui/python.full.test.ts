/** The types of Python's `ag-ui-protocol`, and the conformance checker that exists for AG-UI (ag-ui-validate). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPythonClient } from './python-client.ts';
import type { PythonClient } from './python-client.ts';
import { testRuns, useAgUiService } from './runs.ts';

const setup = useAgUiService();
let python: PythonClient | null;
beforeAll(async () => {
  python = await startPythonClient();
});
afterAll(() => python?.stop());

testRuns(setup, 'python', () => python?.fetch);

test('the conformance checker has found no error in these runs', ({ skip }) => {
  if (!python) return skip('Python or its packages are missing.');
  expect(python.findings).toEqual([]);
});
