/** `interlude server` and `interlude worker` hide the environment before anything else is loaded; and `interlude migrate`. */
import { hideEnvironment } from '../../platform/processes/hide-environment.ts';
import { defineCommand } from '@interlude-ai/kit/terminal/command.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';

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

export const migrate = defineCommand({
  arguments: [],
  options: {},
  details:
    'Processes do the same when they start. As a step of its own, before them, it shows that the database can be migrated. Needs the settings of the database only.',
  async run() {
    const [{ readDatabase }, { openStorage }] = await Promise.all([
      import('../../platform/processes/read-config.ts'),
      import('../../storage/open-storage.ts'),
    ]);
    const storage = await openStorage(readDatabase());
    await storage.close();
    print('The database is up to date.\n');
  },
});
