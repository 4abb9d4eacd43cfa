/** `interlude versions`: the versions of the workflow code, which one new turns start with, and how to go back to another. */
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Config } from '../../platform/config/config.ts';
import type { Storage } from '../../storage/storage.ts';
import { group } from '@interlude-ai/kit/terminal/command.ts';
import { printFromStorage } from './open-service.ts';

export function versions(): CommandUnknownOpts {
  const list = new Command('list')
    .description('list the versions of the workflow code, and the open turns of each')
    .addHelpText(
      'after',
      `
A turn goes on with the version that it started with. Workers run every version
that has open turns, with the code that the database keeps. A new release
becomes current when its first worker polls.`,
    )
    .action(() => printFromStorage(listVersions));
  const rollback = new Command('rollback')
    .description('start new turns with the version that was current before')
    .addHelpText(
      'after',
      '\nTurns of other versions stay with theirs. Restarting workers of the newer release does not undo it.',
    )
    .action(() =>
      printFromStorage(async (storage, { temporal }) => {
        const { rollBack } = await import('../../platform/processes/versions.ts');
        return newTurnsStartWith(await rollBack(storage, temporal.deployment.name));
      }),
    );
  const use = new Command('use')
    .description('start new turns with the version that you name')
    .argument('<build-id>', 'any version whose code is kept')
    .action((buildId) =>
      printFromStorage(async (storage, { temporal }) => {
        const { useVersion } = await import('../../platform/processes/versions.ts');
        await useVersion(storage, temporal.deployment.name, buildId);
        return newTurnsStartWith(buildId);
      }),
    );
  return group(
    'versions',
    'versions of the workflow code: list, rollback, use',
    [list, rollback, use],
    'list',
  );
}

function newTurnsStartWith(buildId: string): string {
  return `New turns start with version ${buildId}.`;
}

async function listVersions(storage: Storage, { temporal }: Config): Promise<string> {
  const { routedByTemporal } = await import('../../storage/tables/versions.ts');
  const [deployed, kept, open] = await Promise.all([
    storage.versions.list(temporal.deployment.name),
    storage.workflowCode.list('turns'),
    storage.versions.openTurns(),
  ]);
  if (deployed.length === 0) return 'No worker of this deployment has started yet.';
  const turnsOf = (buildId: string | null) => open.find((turns) => turns.buildId === buildId)?.turns ?? 0;
  const lines = deployed.map(({ buildId, since }, index) => [
    index === 0 ? '*' : ' ',
    buildId === routedByTemporal ? "(Temporal's routing decides)" : buildId,
    new Date(since).toISOString(),
    `${turnsOf(buildId)} open`,
    buildId === routedByTemporal || kept.some(({ id }) => id === buildId) ? '' : 'its code is no longer kept',
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const rows = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const unversioned = turnsOf(null);
  if (unversioned > 0)
    rows.push(
      '',
      `${unversioned} open turns were started by a release without versions. No worker of this release runs them; their users can cancel them.`,
    );
  return rows.join('\n');
}
