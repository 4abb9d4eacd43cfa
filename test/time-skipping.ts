/**
 * A Temporal in which ten minutes pass in no time. One per test file, its tests one after another: time is the
 * server's, not the test's. Only awaiting a workflow's result, or `environment.sleep`, lets time pass.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { readTools } from '../scripts/setup/tools.mjs';
import { registerSearchAttributes } from '../src/search-attributes.ts';
import { installQuietRuntime } from './quiet-runtime.ts';

export async function createTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = readTools().timeSkipping;
  if (path === undefined)
    throw new Error('The time-skipping server is not set up: run npm run setup temporal time-skipping');
  installQuietRuntime();
  const environment = await start(path);
  await registerSearchAttributes(environment.connection, environment.namespace ?? 'default');
  return environment;
}

const attempts = 5;

/** The SDK gives the server five seconds to start; on a machine that is busy it may take longer than that. */
async function start(path: string): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}
