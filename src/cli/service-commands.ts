/** Commands that run the service or work on its database: in the checkout and in the image. */
import type { CommandEntry } from './command.ts';

const versions = () => import('./commands/versions.ts');
const apiKeys = () => import('./commands/api-keys.ts');
const accounts = () => import('./commands/accounts.ts');
const turns = () => import('./commands/turns.ts');

export const serviceCommands: CommandEntry[] = [
  {
    name: 'start',
    summary: 'run everything on this machine, with a demo, its own Temporal and its own sign-in',
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
    name: 'turns',
    summary: 'show the turns of everyone, and what they wait for',
    load: async () => (await turns()).turns,
  },
  {
    name: 'turn',
    summary: 'show what happened in a turn',
    load: async () => (await turns()).turn,
  },
  {
    name: 'questions',
    summary: 'show the questions that people have not answered',
    load: async () => (await turns()).questions,
  },
  {
    name: 'cancel',
    summary: 'cancel a turn, or expire a question',
    load: async () => (await turns()).cancel,
  },
  {
    name: 'agents check',
    summary: 'reach the servers of the agents file, and show what agents get of them',
    isDefault: true,
    load: async () => (await import('./commands/check.ts')).agentsCheck,
  },
  {
    name: 'config check',
    summary: 'check the environment and the agents file, and show what they amount to',
    isDefault: 'also alone',
    load: async () => (await import('./commands/check.ts')).configCheck,
  },
  {
    name: 'versions list',
    summary: 'show the versions of the workflow code, and the turns that wait with each',
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
    summary: 'start new turns with any version that is kept',
    load: async () => (await versions()).use,
  },
  {
    name: 'installation status',
    summary: 'whether the database and Temporal belong together',
    isDefault: 'also alone',
    load: async () => (await import('./commands/installation.ts')).status,
  },
  {
    name: 'installation adopt',
    summary: 'let the database and Temporal belong together from now on, after a restore',
    load: async () => (await import('./commands/installation.ts')).adoption,
  },
  {
    name: 'tools build',
    summary: 'bundle a folder of tools ahead of the start of a worker',
    load: async () => (await import('./commands/tools-build.ts')).build,
  },
  {
    name: 'api-keys create',
    summary: 'make an API key for a service, and print it',
    isDefault: true,
    load: async () => (await apiKeys()).create,
  },
  {
    name: 'api-keys list',
    summary: 'show the API keys there are',
    load: async () => (await apiKeys()).list,
  },
  {
    name: 'api-keys revoke',
    summary: 'end an API key at once',
    load: async () => (await apiKeys()).revoke,
  },
  {
    name: 'keys reseal',
    summary: 'encrypt everything again with the newest encryption key',
    load: async () => (await import('./commands/keys.ts')).reseal,
  },
  {
    name: 'accounts list',
    summary: 'show the accounts that all users of a tenant share',
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
