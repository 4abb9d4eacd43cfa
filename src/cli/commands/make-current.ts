/** `interlude make-current`: lets new turns go to the version of this checkout or image. Turns of other versions stay there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../processes/read-config.ts';
import { isSameVersion, makeCurrent, readVersionRouting, versionOf } from '../../temporal/deployment.ts';
import { connectClient } from '../../temporal/connection.ts';
import { openWorkflowBundle } from '../../processes/workflow-bundle.ts';
import { defineCommand } from '../command.ts';

const waitMs = 120_000;

export const makeVersionCurrent = defineCommand({
  arguments: [],
  options: {},
  details:
    'Waits until a worker of this version polls, so that it may run beside the start of the workers. Turns of other versions stay where they are.',
  async run() {
    const { temporal } = readConfig();
    const version = versionOf(temporal, (await openWorkflowBundle()).buildId);
    const name = `${version.deploymentName}:${version.buildId}`;
    await using stack = new AsyncDisposableStack();
    const { client, close } = connectClient(temporal);
    stack.defer(close);
    const isCurrent = async () => {
      const { current, polling } = await readVersionRouting(client.connection, temporal);
      return (
        isSameVersion(current, version) ||
        (polling.some((poller) => isSameVersion(poller.version, version)) &&
          makeCurrent(client.connection, temporal.namespace, version))
      );
    };
    const deadline = Date.now() + waitMs;
    while (!(await client.withDeadline(Date.now() + 10_000, isCurrent))) {
      if (Date.now() > deadline)
        throw new Error(
          `No worker of ${name} polls task queue ${temporal.taskQueue}. Start one of the same checkout or image first: interlude worker`,
        );
      await sleep(500);
    }
    process.stdout.write(`New turns go to ${name}.\n`);
  },
});
