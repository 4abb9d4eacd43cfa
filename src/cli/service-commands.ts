/** Commands that run the service or work on its database: in the checkout and in the image. */
import type { CommandEntry } from '@interlude-ai/kit/terminal/command.ts';

const versions = () => import('./commands/versions.ts');
const apiKeys = () => import('./commands/api-keys.ts');
const accounts = () => import('./commands/accounts.ts');
const turns = () => import('./commands/turns.ts');

export const serviceCommands: CommandEntry[] = [
  {
    name: 'start',
    summary: 'run everything on this machine, with a Temporal, a sign-in and demo servers',
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    name: 'server',
    summary: 'run an API process',
    load: async () => (await import('./commands/processes.ts')).server,
  },
  {
    name: 'worker',
    summary: 'run a worker process',
    load: async () => (await import('./commands/processes.ts')).worker,
  },
  {
    name: 'migrate',
    summary: "bring the database's schema up to date",
    load: async () => (await import('./commands/processes.ts')).migrate,
  },
  {
    name: 'turns',
    summary: 'list the turns of all users, and what they wait for',
    load: async () => (await turns()).turns,
  },
  {
    name: 'turn',
    summary: 'show what happened in a turn',
    load: async () => (await turns()).turn,
  },
  {
    name: 'questions',
    summary: 'list the open questions of all users',
    load: async () => (await turns()).questions,
  },
  {
    name: 'cancel',
    summary: 'cancel a turn, or expire a question',
    load: async () => (await turns()).cancel,
  },
  {
    name: 'agents check',
    summary: 'reach the servers of the agents file, and show which tools each agent gets',
    isDefault: true,
    load: async () => (await import('./commands/check.ts')).agentsCheck,
  },
  {
    name: 'config check',
    summary: 'check the settings and the agents file, and show the result',
    isDefault: 'also alone',
    load: async () => (await import('./commands/check.ts')).configCheck,
  },
  {
    name: 'versions list',
    summary: 'list the versions of the workflow code, and the open turns of each',
    isDefault: 'also alone',
    load: async () => (await versions()).list,
  },
  {
    name: 'versions rollback',
    summary: 'start new turns with the version that was current before',
    load: async () => (await versions()).rollback,
  },
  {
    name: 'versions use',
    summary: 'start new turns with the version that you name',
    load: async () => (await versions()).use,
  },
  {
    name: 'installation status',
    summary: 'show whether the database and Temporal belong together',
    isDefault: 'also alone',
    load: async () => (await import('./commands/installation.ts')).status,
  },
  {
    name: 'installation adopt',
    summary: 'join the database and Temporal after one of them was restored',
    load: async () => (await import('./commands/installation.ts')).adoption,
  },
  {
    name: 'test',
    summary: 'run tests of agents',
    load: async () => (await import('./commands/test.ts')).test,
  },
  {
    name: 'tools build',
    summary: 'bundle a folder of tools, so that workers start faster',
    load: async () => (await import('./commands/tools-build.ts')).build,
  },
  {
    name: 'api-keys create',
    summary: 'create an API key for a service, and print it',
    isDefault: true,
    load: async () => (await apiKeys()).create,
  },
  {
    name: 'api-keys list',
    summary: 'list the API keys',
    load: async () => (await apiKeys()).list,
  },
  {
    name: 'api-keys revoke',
    summary: 'revoke an API key at once',
    load: async () => (await apiKeys()).revoke,
  },
  {
    name: 'keys reseal',
    summary: 'encrypt everything again with the newest encryption key',
    load: async () => (await import('./commands/keys.ts')).reseal,
  },
  {
    name: 'accounts list',
    summary: 'list the accounts that all users of a tenant share',
    load: async () => (await accounts()).list,
  },
  {
    name: 'accounts connect',
    summary: 'connect a shared account',
    load: async () => (await accounts()).connect,
  },
  {
    name: 'accounts disconnect',
    summary: 'disconnect a shared account',
    load: async () => (await accounts()).disconnect,
  },
];
