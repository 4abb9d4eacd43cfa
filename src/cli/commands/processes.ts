/** `interlude server` and `interlude worker` hide the environment before anything else is loaded. */
import { hideEnvironment } from '../../platform/processes/hide-environment.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';

export const server = defineCommand({
  arguments: [],
  options: {},
  details:
    'Any number of them may run. Needs your OpenID provider (AUTH_ISSUER) and your Temporal (TEMPORAL_ADDRESS).',
  async run() {
    hideEnvironment();
    const { runApiProcess } = await import('../../platform/processes/api-process.ts');
    await runApiProcess();
  },
});

export const worker = defineCommand({
  arguments: [],
  options: {},
  details: 'Any number of them may run; each takes turns from the task queue.',
  async run() {
    hideEnvironment();
    const { runWorkerProcess } = await import('../../platform/processes/worker-process.ts');
    await runWorkerProcess();
  },
});
