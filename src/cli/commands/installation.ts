/**
 * `interlude installation status`: whether the database and Temporal belong together, and what only one of them knows.
 * `interlude installation adopt`: an operator's decision that they belong together from now on.
 */
import { Command, Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { group } from '@interlude-ai/kit/terminal/command.ts';

export function installation(): CommandUnknownOpts {
  const status = new Command('status')
    .description('show whether the database and Temporal belong together')
    .addHelpText(
      'after',
      `
Changes nothing. Exit codes: 0 they belong together, 1 they do not, 3 one of
them does not answer. Run it with the environment of a process.`,
    )
    .action(async () => {
      const { showInstallation } = await import('../installation.ts');
      process.exitCode = await showInstallation();
    });
  const adopt = new Command('adopt')
    .description('join the database and Temporal after one of them was restored')
    .addOption(
      new Option(
        '--turns <end | restart>',
        'what to do with turns that Temporal does not know: end all of them, or restart those that wait for a person, with their questions open',
      )
        .choices(['end', 'restart'])
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'show what would be done, and change nothing')
    .option(
      '--take-over',
      'go on although the mark at Temporal was written minutes ago; the processes that wrote it stop',
    )
    .addHelpText(
      'after',
      `
Nothing is sent to other servers. Turns that only Temporal knows are terminated
there. Processes that wait go on by themselves afterwards.`,
    )
    .action(async ({ turns, dryRun = false, takeOver = false }) => {
      const { adoptInstallation } = await import('../installation.ts');
      process.exitCode = await adoptInstallation(turns, { dryRun, takeOver });
    });
  return group('installation', 'the database and Temporal: status, adopt', [status, adopt], 'status');
}
