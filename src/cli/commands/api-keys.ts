/** `interlude api-keys create | list | revoke`: keys of services. Only a new key goes to stdout. */
import { userInfo } from 'node:os';
import { readConfig } from '../../platform/processes/read-config.ts';
import { createApiKey } from '../../service/api-keys.ts';
import { openStorage } from '../../storage/open-storage.ts';
import type { ApiKey } from '../../storage/tables/api-keys.ts';
import type { Storage } from '../../storage/storage.ts';
import { defineCommand, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';

const tenant = { type: 'string', value: '<tenant>' } as const;

export const create = defineCommand({
  arguments: [],
  options: {
    tenant: {
      ...tenant,
      description: 'the tenant whose conversations and accounts the service may use',
      required: true,
    },
    service: {
      type: 'string',
      value: '<name>',
      description:
        'the service that uses the key; all its keys read the same conversations (default: a new one)',
    },
    'acts-for-users': {
      type: 'boolean',
      description: 'it may act for users, whom it names with each request',
    },
    'approves-for-users': {
      type: 'boolean',
      description: 'it may also approve calls for them, because its program asks them itself',
    },
    by: {
      type: 'string',
      value: '<name>',
      description: 'who creates it, for the list (default: your user name)',
    },
  },
  details:
    'Conversations belong to the service. To replace a key, make another one for the same service, then revoke the first; a key without --service is of a service named by its id. A key that acts for users names one with each request (x-interlude-user) and is that user then: it reads and writes their conversations, uses their accounts, and is asked their questions. It never connects an account, and approves nothing unless it may.',
  run: ({
    tenant: given,
    service,
    by,
    'acts-for-users': actsForUsers,
    'approves-for-users': approvesForUsers,
  }) => {
    if (approvesForUsers && !actsForUsers)
      throw new UsageError('--approves-for-users goes with --acts-for-users.');
    const more = { service, actsForUsers, approvesForUsers };
    const make = (storage: Storage) => createApiKey(storage, given, by ?? userInfo().username, more);
    // The first key of a service may be made before it starts for the first time.
    return printFrom(make, { isThere: false });
  },
});

export const list = defineCommand({
  arguments: [],
  options: { tenant: { ...tenant, description: 'of this tenant only' } },
  run: ({ tenant: given }) =>
    printFrom(async (storage) => {
      const keys = await storage.apiKeys.list(given ?? null);
      return keys.length === 0 ? 'There are no keys.' : keys.map(describe).join('\n');
    }),
});

export const revoke = defineCommand({
  arguments: ['<id>'],
  options: {},
  details:
    'The whole key may be given instead of its id. Every running process refuses it from its next request on.',
  run: (_, [given = '']) =>
    printFrom(async (storage) => {
      const id = toId(given);
      const isRevoked = await storage.apiKeys.revoke(id);
      if (!isRevoked) throw new Error(`There is no key ${id}; ${ourCommand('api-keys list')} shows them.`);
      return `The key ${id} is refused from now on.`;
    }),
});

async function printFrom(
  work: (storage: Storage) => Promise<string>,
  { isThere = true }: { isThere?: boolean } = {},
): Promise<void> {
  const storage = await openStorage(readConfig().database, { isThere });
  try {
    print(`${await work(storage)}\n`);
  } finally {
    await storage.close();
  }
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
