/** `interlude start`: hides the environment before anything else is loaded. */
import { hideEnvironment } from '../../processes/hide-environment.ts';
import { defineCommand } from '../command.ts';

export const start = defineCommand({
  arguments: [],
  options: {},
  details:
    'Whatever is configured is used instead of what it brings along. Data are kept in .interlude, or where INTERLUDE_DATA says.',
  async run() {
    hideEnvironment();
    const { runEmbedded } = await import('../../development/embedded.ts');
    await runEmbedded();
  },
});
