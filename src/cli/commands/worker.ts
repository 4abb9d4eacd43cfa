/** `interlude worker`: hides the environment before anything else is loaded. */
import { hideEnvironment } from '../../processes/hide-environment.ts';
import { defineCommand } from '../command.ts';

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
