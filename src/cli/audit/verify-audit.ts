/**
 * `interlude audit verify`: whether the lines of exports are a chain, and whether later exports continue earlier ones. Needs no
 * database.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { chainOf, canonicalHash } from '../../storage/tables/audit-chain.ts';
import { format } from './export-audit.ts';

const headerSchema = z.object({ format: z.literal(format) });
const lineSchema = z.strictObject({
  tenant: z.string(),
  position: z.int().positive(),
  sealedAt: z.string(),
  previous: z.string(),
  hash: z.string(),
  chain: z.string(),
  entry: z.record(z.string(), z.string().nullable()).nullable(),
});
const endSchema = z.strictObject({ entries: z.int(), deleted: z.int() });
type Line = z.infer<typeof lineSchema>;

export interface VerifiedPart {
  tenant: string;
  first: number;
  last: number;
  deleted: number;
  /** The chain value of `last`: compare it with what you noted elsewhere. */
  chain: string;
  /** The earlier file that it continues or repeats. */
  continues: string | null;
}

export class AuditBroken extends Error {
  override name = 'AuditBroken';
}

/** Chain values at the ends of the files that were read, by tenant and position. */
type KnownEnds = Map<string, { chain: string; file: string }>;

/** Throws `AuditBroken` at the first line that is wrong. `known`: of earlier files; what this one adds is put there. */
export async function verifyFile(file: string, known: KnownEnds): Promise<VerifiedPart[]> {
  const parts: VerifiedPart[] = [];
  const ends: KnownEnds = new Map();
  let [number, entries, deleted] = [0, 0, 0];
  let isEnded = false;
  const broken = (what: string) => new AuditBroken(`${file}, line ${number}: ${what}`);

  function check(line: Line): void {
    const { tenant, position, previous, hash, chain, entry } = line;
    const before = parts.at(-1);
    if (entry !== null && (canonicalHash(entry) !== hash || entry['tenant'] !== tenant))
      throw broken(`the contents of entry ${position} of ${tenant} were changed`);
    if (chainOf(line) !== chain)
      throw broken(`entry ${position} of ${tenant} is not the one that was sealed`);
    if (before?.tenant === tenant) {
      if (position !== before.last + 1 || previous !== before.chain)
        throw broken(
          `entry ${position} of ${tenant} does not follow entry ${before.last}: entries are missing or were changed`,
        );
    } else {
      if (parts.some((part) => part.tenant === tenant))
        throw broken(`the entries of ${tenant} are not together`);
      parts.push({ tenant, first: position, last: position, deleted: 0, chain, continues: null });
      ends.set(keyOf(tenant, position - 1), { chain: previous, file });
    }
    const part = parts.at(-1) as VerifiedPart;
    Object.assign(part, { last: position, chain, deleted: part.deleted + (entry === null ? 1 : 0) });
    for (const [at, value] of [
      [position - 1, previous],
      [position, chain],
    ] as const) {
      const earlier = known.get(keyOf(tenant, at));
      if (!earlier) continue;
      if (earlier.chain !== value)
        throw broken(
          `the chain of ${tenant} differs at position ${at} from the one in ${earlier.file}: it was written again`,
        );
      part.continues = earlier.file;
    }
    entries += 1;
    if (entry === null) deleted += 1;
  }

  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number += 1;
    if (isEnded) throw broken('there is more after the last line');
    const value = parse(text);
    if (number === 1) {
      if (!headerSchema.safeParse(value).success) throw broken('it is no export of the audit');
      continue;
    }
    const end = endSchema.safeParse(value).data;
    const line = lineSchema.safeParse(value).data;
    if (line) check(line);
    else if (end?.entries === entries && end.deleted === deleted) isEnded = true;
    else throw broken(end ? 'the number of entries is wrong: lines are missing' : 'it cannot be read');
  }
  if (!isEnded) throw broken('the last line is missing: the file was cut off');
  for (const { tenant, last, chain } of parts) ends.set(keyOf(tenant, last), { chain, file });
  for (const [key, end] of ends) known.set(key, end);
  return parts;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function keyOf(tenant: string, position: number): string {
  return `${position} ${tenant}`;
}
