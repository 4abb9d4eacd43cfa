/**
 * `interlude versions`: the versions of the workflow code, the one that new turns start with, and going back to
 * another.
 */
import { readConfig } from '../../platform/processes/read-config.ts';
import { useVersion } from '../../platform/processes/versions.ts';
import { openStorage } from '../../storage/open-storage.ts';
import { routedByTemporal } from '../../storage/tables/versions.ts';
import type { Storage } from '../../storage/storage.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';

export const list = defineCommand({
  arguments: [],
  options: {},
  details:
    'A turn goes on with the version that it started with. Workers run every version that has open turns, with the code that the database keeps. A new release becomes current when its first worker polls.',
  run: () =>
    withStorage(async (storage, deployment) => {
      const [deployed, kept, open] = await Promise.all([
        storage.versions.list(deployment),
        storage.workflowCode.list('turns'),
        storage.versions.openTurns(),
      ]);
      if (deployed.length === 0) {
        print('No worker of this deployment has started yet.\n');
        return;
      }
      const turnsOf = (buildId: string | null) => open.find((turns) => turns.buildId === buildId)?.turns ?? 0;
      const lines = deployed.map(({ buildId, since }, index) => [
        index === 0 ? '*' : ' ',
        buildId === routedByTemporal ? "(Temporal's routing decides)" : buildId,
        new Date(since).toISOString(),
        `${turnsOf(buildId)} open`,
        buildId === routedByTemporal || kept.some(({ id }) => id === buildId)
          ? ''
          : 'its code is no longer kept',
      ]);
      const widths = [0, 1, 2, 3].map((column) =>
        Math.max(...lines.map((line) => line[column]?.length ?? 0)),
      );
      for (const line of lines)
        print(
          `${line
            .map((cell, column) => cell.padEnd(widths[column] ?? 0))
            .join('  ')
            .trimEnd()}\n`,
        );
      const unversioned = turnsOf(null);
      if (unversioned > 0)
        print(
          `\n${unversioned} open turns were started by a release without versions. No worker of this release runs them; their users can cancel them.\n`,
        );
    }),
});

export const rollback = defineCommand({
  arguments: [],
  options: {},
  details:
    'New turns start with the version that was current before; turns of other versions stay with theirs. Restarting workers of the newer release does not undo it.',
  run: () =>
    withStorage(async (storage, deployment) => {
      const [, before] = await storage.versions.list(deployment);
      if (!before)
        throw new Error(`There is no version to go back to; ${ourCommand('versions list')} shows them.`);
      await useVersion(storage, deployment, before.buildId);
      print(`New turns start with version ${before.buildId}.\n`);
    }),
});

export const use = defineCommand({
  arguments: ['<build-id>'],
  options: {},
  details: 'As rollback, to any version whose code is kept.',
  run: (_, [buildId = '']) =>
    withStorage(async (storage, deployment) => {
      await useVersion(storage, deployment, buildId);
      print(`New turns start with version ${buildId}.\n`);
    }),
});

async function withStorage(run: (storage: Storage, deployment: string) => Promise<void>): Promise<void> {
  const { database, temporal } = readConfig();
  const storage = await openStorage(database, { isThere: true });
  try {
    await run(storage, temporal.deployment.name);
  } finally {
    await storage.close();
  }
}
