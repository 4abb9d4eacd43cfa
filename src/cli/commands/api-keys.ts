/** `interlude api-keys create | list | revoke`: keys of services. Only a new key goes to stdout. */
import { userInfo } from 'node:os';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ApiKey } from '../../storage/tables/api-keys.ts';
import { group, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { printFromStorage } from './open-service.ts';

export function apiKeys(): CommandUnknownOpts {
  return group(
    'api-keys',
    'API keys of services: create, list, revoke',
    [create(), list(), revoke()],
    'create',
  );
}

function create(): CommandUnknownOpts {
  return new Command('create')
    .description('create an API key for a service, and print it')
    .requiredOption('--tenant <tenant>', 'the tenant whose conversations and accounts the service may use')
    .option(
      '--service <name>',
      'the service that uses the key; all its keys read the same conversations (default: a new one)',
    )
    .option('--acts-for-users', 'it may act for users, whom it names with each request')
    .option(
      '--approves-for-users',
      'it may also approve calls for them, because its program asks them itself',
    )
    .option('--by <name>', 'who creates it, for the list (default: your user name)')
    .addHelpText(
      'after',
      `
Conversations belong to the service. To replace a key, make another one for the
same service, then revoke the first; a key without --service is of a service
named by its id. A key that acts for users names one with each request
(x-interlude-user) and is that user then: it reads and writes their
conversations, uses their accounts, and is asked their questions. It never
connects an account, and approves nothing unless it may.`,
    )
    .action(({ tenant, service, by, actsForUsers = false, approvesForUsers = false }) => {
      if (approvesForUsers && !actsForUsers)
        throw new UsageError('--approves-for-users goes with --acts-for-users.');
      // The first key of a service may be made before it starts for the first time.
      return printFromStorage(
        async (storage) => {
          const { createApiKey } = await import('../../service/api-keys.ts');
          const more = { service, actsForUsers, approvesForUsers };
          return createApiKey(storage, tenant, by ?? userInfo().username, more);
        },
        { isThere: false },
      );
    });
}

function list(): CommandUnknownOpts {
  return new Command('list')
    .description('list the API keys')
    .option('--tenant <tenant>', 'of this tenant only')
    .action(({ tenant }) =>
      printFromStorage(async (storage) => {
        const keys = await storage.apiKeys.list(tenant ?? null);
        return keys.length === 0 ? 'There are no keys.' : keys.map(describe).join('\n');
      }),
    );
}

function revoke(): CommandUnknownOpts {
  return new Command('revoke')
    .description('revoke an API key at once')
    .argument('<id>', 'its id, or the whole key')
    .addHelpText('after', '\nEvery running process refuses it from its next request on.')
    .action((given) =>
      printFromStorage(async (storage) => {
        const id = toId(given);
        const isRevoked = await storage.apiKeys.revoke(id);
        if (!isRevoked) throw new Error(`There is no key ${id}; ${ourCommand('api-keys list')} shows them.`);
        return `The key ${id} is refused from now on.`;
      }),
    );
}

/** The whole key is accepted as well; its secret is not repeated. */
function toId(given: string): string {
  return /^ilk_([0-9a-f]{16})(_|$)/.exec(given)?.[1] ?? given;
}

function describe(key: ApiKey): string {
  const { id, tenant, createdBy, createdAt, lastUsedAt, revokedAt } = key;
  return [
    id,
    tenant,
    ...serviceOf(key),
    `made ${timeOf(createdAt)}${createdBy === null ? '' : ` by ${createdBy}`}`,
    lastUsedAt === null ? 'not used' : `used ${timeOf(lastUsedAt)}`,
    revokedAt === null ? 'valid' : `revoked ${timeOf(revokedAt)}`,
    ...rightsOf(key),
  ].join('  ');
}

/** By default a key belongs to a service named by its id. */
function serviceOf({ id, service }: ApiKey): string[] {
  if (service === null) return ['without a service'];
  return service === id ? [] : [`service ${service}`];
}

function rightsOf({ actsForUsers, approvesForUsers }: ApiKey): string[] {
  if (!actsForUsers) return [];
  return [approvesForUsers ? 'acts and approves for users' : 'acts for users'];
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
