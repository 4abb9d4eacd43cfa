/**
 * `interlude users export | erase | erasures`, for operators: what is kept of a user. See docs/retention.md. They work on the database
 * with the environment of a process; running processes end the turns and have Temporal delete the histories.
 */
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Dependencies } from '../../platform/processes/dependencies.ts';
import type { Erasure } from '../../storage/schema/session-tables.ts';
import { group, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { openService, printFromService, printFromStorage } from './open-service.ts';

/** A worker ends a turn within seconds, unless a call of it does not stop. */
const waitMs = 60_000;

const tenantOption = ['--tenant <tenant>', 'the tenant of the user'] as const;

export function users(): CommandUnknownOpts {
  return group('users', 'what is kept of a user: export, erase, list of erasures', [
    new Command('export')
      .description('print everything that is kept of a user, as lines of JSON')
      .argument('<user>')
      .requiredOption(...tenantOption)
      .addHelpText('after', '\nThe audit records it. Secrets are left out.')
      .action((user, { tenant }) => {
        requireNames({ tenant, user });
        return openService((parts) => exportUser(parts, { tenant, user }));
      }),
    new Command('erase')
      .description('delete everything that is kept of a user')
      .argument('[user]')
      .option(...tenantOption)
      .option('--again <file>', 'repeat the erasures of this list, after a backup was restored')
      .addHelpText(
        'after',
        `
The user's turns are ended, accounts are revoked at their providers, and
conversations are deleted with their histories at Temporal. It cannot be undone.
${ourCommand('users erasures')} prints the list for --again.`,
      )
      .action((user, { tenant, again }) =>
        printFromService(async (parts) => {
          if (again !== undefined && user === undefined) return eraseList(parts, await readList(again));
          if (user === undefined || tenant === undefined || again !== undefined)
            throw new UsageError(
              `Name the user and the tenant, or the list: ${ourCommand('users erase <user> --tenant <tenant>')}`,
            );
          requireNames({ tenant, user });
          return eraseOne(parts, { tenant, user });
        }),
      ),
    new Command('erasures')
      .description('print what was erased on request, as lines of JSON')
      .addHelpText(
        'after',
        `
Keep them outside the database: a backup contains what was erased after it was
made. After restoring one: ${ourCommand('users erase --again <file>')}`,
      )
      .action(() =>
        printFromStorage(async ({ erasure }) =>
          (await erasure.list()).map((line) => JSON.stringify(line)).join('\n'),
        ),
      ),
  ]);
}

interface User {
  tenant: string;
  user: string;
}

/** Empty, the name of a user means the accounts that the whole tenant shares. */
function requireNames({ tenant, user }: User): void {
  if (tenant === '' || user === '') throw new UsageError('The user and the tenant must not be empty.');
}

const actor = () => `${userInfo().username} (command line)`;

async function exportUser({ storage, keys }: Dependencies, user: User): Promise<void> {
  const [{ exportUser }, { writeLine }] = await Promise.all([
    import('../../service/export.ts'),
    import('../audit/export-audit.ts'),
  ]);
  const entry = { at: storage.now(), tenant: user.tenant, elicitationId: '', actor: actor() };
  await storage.audit.record({ ...entry, action: 'exported', detail: 'user, by an operator', address: null });
  let isKnown = false;
  for await (const line of exportUser({ storage, keys }, user)) {
    if (line.kind !== 'user') isKnown = true;
    await writeLine(process.stdout, line);
  }
  if (!isKnown) printAside(`${isUnknown}\n`);
}

/** Operators know people by their names, and issuers mostly do not. */
const isUnknown = `Nothing was found of this user. Is that the sub of their access tokens, as ${ourCommand('turns')} shows it?`;

async function eraseOne(parts: Dependencies, user: User): Promise<string> {
  const { eraseUser } = await import('../../service/erase.ts');
  const erased = await eraseUser(await erasingParts(parts), user, { actor: actor(), waitMs });
  const isEmpty = erased.conversations + erased.connections === 0;
  return [
    `Erased ${user.user} of ${user.tenant}: ${some(erased.conversations, 'conversation')}, ${some(erased.connections, 'account')}.`,
    ...erased.notRevoked.map(
      (server) => `The provider of ${server} did not confirm that the account is revoked.`,
    ),
    ...(isEmpty ? [isUnknown] : []),
  ].join('\n');
}

function some(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

async function erasingParts(parts: Dependencies) {
  const [{ createOwnConnections }, { createMayChange }] = await Promise.all([
    import('../../service/connections.ts'),
    import('../../service/accounts.ts'),
  ]);
  const { storage, logger } = parts;
  const connections = createOwnConnections({ ...parts, mayChange: createMayChange(storage) });
  return { storage, connections, logger };
}

async function readList(file: string): Promise<Erasure[]> {
  const texts = (await readFile(file, 'utf8')).split('\n').filter((text) => text.trim() !== '');
  // All are read before anything is erased.
  return texts.map((text, index) => {
    const line = toErasure(text);
    if (!line) throw new UsageError(`${file}, line ${index + 1}: it is no erasure`);
    return line;
  });
}

function toErasure(text: string): Erasure | null {
  try {
    const { tenant, at, user, conversation } = JSON.parse(text) as Record<string, unknown>;
    if (typeof tenant !== 'string' || typeof at !== 'number') return null;
    if (typeof user === 'string') return user === '' ? null : { tenant, at, user };
    return typeof conversation === 'string' ? { tenant, at, conversation } : null;
  } catch {
    return null;
  }
}

async function eraseList(parts: Dependencies, list: Erasure[]): Promise<string> {
  const { eraseAgain } = await import('../../service/erase.ts');
  const erased = await eraseAgain(await erasingParts(parts), list, {
    actor: actor(),
    waitMs,
    keptMs: parts.config.retention.auditMs,
  });
  return `Repeated ${erased.length} of ${list.length} erasures${erased.length < list.length ? '; this database knows the others' : ''}.`;
}
