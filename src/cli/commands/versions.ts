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
      `
Turns of other versions stay with theirs. Restarting workers of the newer
release does not undo it: "versions use" does. A second rollback goes further
back.`,
    )
    .action(() =>
      printFromStorage(async (storage, { temporal }) => {
        const { rollBack } = await import('../../platform/processes/versions.ts');
        const { from, to } = await rollBack(storage, temporal.deployment.name);
        return `New turns start with version ${to}, no longer with ${from}.`;
      }),
    );
  const use = new Command('use')
    .description('start new turns with the version that you name')
    .argument('<build-id>', 'any version whose code is kept')
    .action((buildId) =>
      printFromStorage(async (storage, { temporal }) => {
        const { useVersion } = await import('../../platform/processes/versions.ts');
        await useVersion(storage, temporal.deployment.name, buildId);
        return `New turns start with version ${buildId}.`;
      }),
    );
  return group(
    'versions',
    'versions of the workflow code: list, rollback, use',
    [list, rollback, use],
    'list',
  );
}

async function listVersions(storage: Storage, { temporal }: Config): Promise<string> {
  const [{ routedByTemporal }, { startedOnly }] = await Promise.all([
    import('../../storage/tables/versions.ts'),
    import('../../platform/processes/versions.ts'),
  ]);
  const [deployed, starting, kept, open] = await Promise.all([
    storage.versions.list(temporal.deployment.name),
    storage.versions.starting(temporal.deployment.name),
    storage.workflowCode.list('turns'),
    storage.versions.openTurns(),
  ]);
  if (deployed.length === 0) return 'No worker of this deployment has started yet.';
  const turnsOf = (buildId: string | null) => open.find((turns) => turns.buildId === buildId)?.turns ?? 0;
  const isGone = (buildId: string) => buildId !== routedByTemporal && !kept.some(({ id }) => id === buildId);
  const lines = deployed.map(({ buildId, since, isRolledBack }, index) => [
    index === 0 ? '*' : ' ',
    buildId === routedByTemporal ? "(Temporal's routing decides)" : buildId,
    new Date(since).toISOString(),
    `${turnsOf(buildId)} open`,
    [isRolledBack && 'rolled back', isGone(buildId) && 'its code is no longer kept']
      .filter(Boolean)
      .join('; '),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const rows = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  for (const buildId of starting) rows.push('', `Version ${buildId} ${startedOnly}`);
  const unversioned = turnsOf(null);
  if (unversioned > 0)
    rows.push(
      '',
      `${unversioned} open turns were started by a release without versions. No worker of this release runs them; their users can cancel them.`,
    );
  return rows.join('\n');
}
