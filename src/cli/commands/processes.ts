/** `interlude server` and `interlude worker` hide the environment before anything else is loaded. */
import { hideEnvironment } from '../../processes/hide-environment.ts';
import { defineCommand } from '../command.ts';

export const server = defineCommand({
  arguments: [],
  options: {},
  details:
    'Any number of them may run. Needs your OpenID provider (AUTH_ISSUER) and your Temporal (TEMPORAL_ADDRESS).',
  async run() {
    hideEnvironment();
    const { runApiProcess } = await import('../../processes/api-process.ts');
    await runApiProcess();
  },
});

export const worker = defineCommand({
  arguments: [],
  options: {},
  details: 'Any number of them may run; each takes turns from the task queue.',
  async run() {
    hideEnvironment();
    const { runWorkerProcess } = await import('../../processes/worker-process.ts');
    await runWorkerProcess();
  },
});
