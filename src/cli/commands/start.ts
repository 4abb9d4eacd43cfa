/** `interlude start` hides the environment before anything else is loaded. */
import { hideEnvironment } from '../../processes/hide-environment.ts';
import { defineCommand } from '../command.ts';

export const start = defineCommand({
  arguments: [],
  options: {},
  details:
    'Configured parts replace its own ones. Data are kept in .interlude, or in the folder INTERLUDE_DATA.',
  async run() {
    hideEnvironment();
    const { runEmbedded } = await import('../../development/embedded.ts');
    await runEmbedded();
  },
});
