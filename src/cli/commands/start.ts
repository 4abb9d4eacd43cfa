/** `interlude start | dev | server | worker | migrate`. The program has hidden the environment of processes before: see checkout.ts. */
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';

export function start(): CommandUnknownOpts {
  return new Command('start')
    .description('run everything on this machine, with a Temporal, a sign-in and demo servers')
    .addHelpText(
      'after',
      `
Parts that you configure replace its own. Data is kept in .interlude, or in the
folder INTERLUDE_DATA.`,
    )
    .action(async () => {
      await startHere();
    });
}

export function dev(): CommandUnknownOpts {
  return new Command('dev')
    .description('like start, and changed agents and tools are active at once')
    .addHelpText(
      'after',
      `
Watches the folder of the agents file. With a mistake in a file, the last good
state stays; the terminal and the playground show the file and the line.
More: docs/dev.md`,
    )
    .action(async () => {
      await startHere({ reloads: true });
    });
}

async function startHere(options: { reloads?: boolean } = {}): Promise<void> {
  // Loading the modules alone takes a second, and ten on a busy machine.
  if (process.stdout.isTTY) print('\n  Interlude starts …\n');
  const { runEmbedded } = await import('../../platform/development/embedded.ts');
  await runEmbedded(options);
}

export function server(): CommandUnknownOpts {
  return new Command('server')
    .description('run an API process')
    .addHelpText(
      'after',
      `
Any number of them may run. Needs your OpenID provider (AUTH_ISSUER) and your
Temporal (TEMPORAL_ADDRESS).`,
    )
    .action(async () => {
      const { runApiProcess } = await import('../../platform/processes/api-process.ts');
      await runApiProcess();
    });
}

export function worker(): CommandUnknownOpts {
  return new Command('worker')
    .description('run a worker process')
    .addHelpText('after', '\nAny number of them may run; each takes turns from the task queue.')
    .action(async () => {
      const { runWorkerProcess } = await import('../../platform/processes/worker-process.ts');
      await runWorkerProcess();
    });
}

export function migrate(): CommandUnknownOpts {
  return new Command('migrate')
    .description("bring the database's schema up to date")
    .addHelpText(
      'after',
      `
Processes do the same when they start. As a step of its own, before them, it
shows that the database can be migrated. Needs the settings of the database only.`,
    )
    .action(async () => {
      const [{ readDatabase }, { openStorage }] = await Promise.all([
        import('../../platform/processes/read-config.ts'),
        import('../../storage/open-storage.ts'),
      ]);
      const storage = await openStorage(readDatabase());
      await storage.close();
      print('The database is up to date.\n');
    });
}
