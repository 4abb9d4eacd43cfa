/**
 * A chain of hashes over the audit of each tenant, so that an export shows whether entries were changed, removed or added.
 * The contents of an entry are only in its row of `audit`, which may be deleted: the chain keeps its hash. The entry's
 * random id is part of what is hashed, and is deleted with it, so contents cannot be guessed from the hash.
 *
 * Any process inserts entries, in any order. Sealing gives them their places, one transaction at a time.
 * See docs/decisions/0143-the-audit-is-a-chain.md.
 */
import { hash as hashOf } from 'node:crypto';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import type { Row, Tables } from '../schema.ts';

/** As exported; see docs/operators.md. Members are strings or null. */
type ExportedEntry = ReturnType<typeof toExported>;

/** One line of an export. */
export interface ChainedEntry {
  tenant: string;
  position: number;
  sealedAt: string;
  /** The chain value of the position before; empty at position 1. */
  previous: string;
  hash: string;
  chain: string;
  /** Null if its contents were deleted. */
  entry: ExportedEntry | null;
}

function toExported(row: Row<'audit'>) {
  return {
    action: row.action,
    actor: row.actor,
    address: row.address,
    at: new Date(row.at).toISOString(),
    detail: row.detail,
    elicitationId: row.elicitation_id === '' ? null : row.elicitation_id,
    id: row.id,
    tenant: row.tenant,
    turnId: row.turn_id,
  };
}

/** SHA-256 of the canonical form (RFC 8785) of an object whose members are strings, whole numbers or null. */
export function canonicalHash(flat: object): string {
  return hashOf('sha256', JSON.stringify(flat, Object.keys(flat).toSorted()));
}

export function chainOf({
  tenant,
  position,
  sealedAt,
  previous,
  hash,
}: Omit<ChainedEntry, 'chain' | 'entry'>): string {
  return canonicalHash({ tenant, position, sealedAt, previous, hash });
}

interface Head {
  position: number;
  chain: string;
  sealedAt: number;
}

/** Entries per transaction. */
const atOnce = 100;
const pageSize = 500;

export function createAuditChain({ query, timeIn }: Database) {
  const unsealed = () => query.selectFrom('audit').select('id').where('position', 'is', null).limit(1);

  return {
    /** Seals some entries, in the order of their times. Returns their number; 0: there were none. */
    async seal(): Promise<number> {
      if (!(await unsealed().executeTakeFirst())) return 0;
      return query.transaction().execute(async (write) => {
        if (isPostgres(write)) await sql`lock table audit_chain in share row exclusive mode`.execute(write);
        const rows = await write
          .selectFrom('audit')
          .selectAll()
          .where('position', 'is', null)
          .orderBy('at')
          .orderBy('id')
          .limit(atOnce)
          .execute();
        const time = await timeIn(write);
        const heads = new Map<string, Head>();
        for (const row of rows) {
          const { tenant, id } = row;
          const head = heads.get(tenant) ?? (await headOf(write, tenant));
          const position = head.position + 1;
          const sealedAt = Math.max(time, head.sealedAt);
          const hash = canonicalHash(toExported(row));
          const chain = chainOf({ tenant, position, sealedAt: inIso(sealedAt), previous: head.chain, hash });
          const link = { tenant, position, sealed_at: sealedAt, hash, chain };
          await write.insertInto('audit_chain').values(link).execute();
          await write.updateTable('audit').set({ position }).where('id', '=', id).execute();
          heads.set(tenant, { position, chain, sealedAt });
        }
        return rows.length;
      });
    },
    /** Sealed at `from` or later and before `to` (epoch milliseconds), in order within each tenant. */
    async *read({
      tenant,
      from = 0,
      to = Number.MAX_SAFE_INTEGER,
    }: {
      tenant?: string | undefined;
      from?: number | undefined;
      to?: number | undefined;
    }): AsyncGenerator<ChainedEntry> {
      const named = await query
        .selectFrom('audit_chain')
        .select('tenant')
        .distinct()
        .orderBy('tenant')
        .execute();
      for (const one of tenant === undefined ? named.map((row) => row.tenant) : [tenant]) {
        let after = 0;
        let previous: string | undefined;
        for (;;) {
          const links = await query
            .selectFrom('audit_chain')
            .selectAll()
            .where('tenant', '=', one)
            .where('position', '>', after)
            .where('sealed_at', '>=', from)
            .where('sealed_at', '<', to)
            .orderBy('position')
            .limit(pageSize)
            .execute();
          const [first, last] = [links[0], links.at(-1)];
          if (!first || !last) break;
          previous ??= (await linkAt(one, first.position - 1))?.chain ?? '';
          const entries = await query
            .selectFrom('audit')
            .selectAll()
            .where('tenant', '=', one)
            .where('position', '>=', first.position)
            .where('position', '<=', last.position)
            .execute();
          const contents = new Map(entries.map((row) => [row.position, toExported(row)]));
          for (const { position, sealed_at: sealedAt, hash, chain } of links) {
            const entry = contents.get(position) ?? null;
            yield { tenant: one, position, sealedAt: inIso(sealedAt), previous, hash, chain, entry };
            previous = chain;
          }
          after = last.position;
        }
      }
    },
  };

  function linkAt(tenant: string, position: number) {
    return query
      .selectFrom('audit_chain')
      .select('chain')
      .where('tenant', '=', tenant)
      .where('position', '=', position)
      .executeTakeFirst();
  }
}

async function headOf(write: Transaction<Tables>, tenant: string): Promise<Head> {
  const last = await write
    .selectFrom('audit_chain')
    .select(['position', 'chain', 'sealed_at as sealedAt'])
    .where('tenant', '=', tenant)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last ?? { position: 0, chain: '', sealedAt: 0 };
}

function inIso(at: number): string {
  return new Date(at).toISOString();
}
