/**
 * A Temporal in which ten minutes pass in no time. One per test file, its tests one after another: time is the
 * server's, not the test's. Only awaiting a workflow's result, or `environment.sleep`, lets time pass.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporal } from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { readTools } from '../scripts/setup/tools.mjs';
import { requireNamespace } from '../src/platform/temporal/namespace.ts';
import { freePort } from './free-port.ts';
import { installQuietRuntime } from './quiet-runtime.ts';

export async function createTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = readTools().timeSkipping;
  if (path === undefined)
    throw new Error('The time-skipping server is not set up: run npm run setup temporal time-skipping');
  installQuietRuntime();
  const environment = await start(path);
  await requireNamespace(environment.connection, environment.namespace ?? 'default');
  await environment.connection.withDeadline(Date.now() + timeoutMs, () => runOneWorkflow(environment));
  return environment;
}

/** Java loads most of its classes for the first workflow, which on a busy machine takes longer than the service waits. */
async function runOneWorkflow({ client, connection, namespace = 'default' }: TestWorkflowEnvironment) {
  const { workflowService } = connection;
  const [name, identity] = ['first', 'test'];
  const handle = await client.workflow.start(name, { workflowId: name, taskQueue: name });
  await handle.signal(name);
  const { taskToken } = await workflowService.pollWorkflowTaskQueue({
    namespace,
    taskQueue: { name },
    identity,
  });
  const commandType = temporal.api.enums.v1.CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION;
  const commands = [{ commandType, completeWorkflowExecutionCommandAttributes: {} }];
  await workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, identity, commands });
}

/** What a service needs of it: deadlines follow its clock. */
export function temporalOf(environment: TestWorkflowEnvironment) {
  const { client, nativeConnection: connection } = environment;
  return { client, connection, currentTimeMs: () => environment.currentTimeMs() };
}

/** How long Java may take to start. The SDK itself gives it five seconds, which is too short on a machine that is busy. */
const timeoutMs = 50_000;

async function start(path: string): Promise<TestWorkflowEnvironment> {
  const port = await freePort();
  const server = spawn(path, [String(port)], { stdio: 'ignore' });
  const ended = once(server, 'exit');
  const stop = async () => {
    server.kill('SIGKILL');
    await ended;
  };
  // The way in which the SDK itself connects to a server that it has started; there is no public one.
  const options = {
    server: { type: 'existing' },
    address: `127.0.0.1:${port}`,
    namespace: 'default',
    supportsTimeSkipping: true,
  };
  for (const latest = Date.now() + timeoutMs; ; await sleep(50)) {
    try {
      const environment = (await TestWorkflowEnvironment['create'](options)) as TestWorkflowEnvironment;
      const disconnect = environment.teardown.bind(environment);
      environment.teardown = async () => {
        await disconnect();
        await stop();
      };
      return environment;
    } catch (cause) {
      const { exitCode } = server;
      if (exitCode === null && Date.now() < latest) continue;
      await stop();
      const what = exitCode === null ? 'does not answer' : `ended with ${exitCode}`;
      throw new Error(`The time-skipping server ${what}`, { cause });
    }
  }
}
