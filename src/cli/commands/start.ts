/** `interlude start` hides the environment before anything else is loaded. */
import { hideEnvironment } from '../../platform/processes/hide-environment.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';

export const start = defineCommand({
  arguments: [],
  options: {},
  details:
    'Parts that you configure replace its own. Data is kept in .interlude, or in the folder INTERLUDE_DATA.',
  async run() {
    hideEnvironment();
    const { runEmbedded } = await import('../../platform/development/embedded.ts');
    await runEmbedded();
  },
});
