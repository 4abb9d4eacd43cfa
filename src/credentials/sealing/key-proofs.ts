/**
 * Checks that the keys of this process are those of the database, before it serves or polls. Each key that is or was the
 * newest one of a process leaves an encrypted text, a proof, until `interlude keys reseal` finds nothing sealed with it any
 * more. A process that cannot open all proofs would lose accounts, and seal others with a key that only it has.
 */
import type { SealedTable, SealedValue } from '../../storage/tables/sealed-values.ts';
import type { Storage } from '../../storage/storage.ts';
import { contextOf } from './contexts.ts';
import { prefixOf, sealedWith, SealingError } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';

type Proofs = Pick<Storage, 'keyProofs'>;

const text = 'interlude';
/** How many values of a key in one table may be damaged before the key itself counts as wrong. */
const tries = 20;

/** Null when the keys are right, and then the newest key has a proof; else what is wrong with them. */
export async function proveKeys(
  storage: Proofs & Pick<Storage, 'sealed'>,
  keys: KeyRing,
): Promise<string | null> {
  const proofs = await storage.keyProofs.all();
  const lack = lackIn(proofs, keys);
  if (lack !== null) return lack;
  const ids = new Set(keys.ids.slice(0, 1));
  // A new database, or one whose proofs were deleted.
  if (proofs.length === 0) {
    const used = await tryValues(storage, keys);
    if (typeof used === 'string') return used;
    for (const id of used) ids.add(id);
  }
  const written = [];
  for (const keyId of ids) {
    const proof = { keyId, proof: keys.seal(text, contextFor(keyId), keyId) };
    if (await storage.keyProofs.add(proof)) written.push(proof);
  }
  // Another process may have started with other keys at the same time. At least one of the two notices it here.
  const lackNow = await lackOfKeys(storage, keys);
  if (lackNow !== null) for (const proof of written) await storage.keyProofs.remove(proof);
  return lackNow;
}

/** What is wrong with the keys now, or null: other processes may seal with a new one. */
export async function lackOfKeys(storage: Proofs, keys: KeyRing): Promise<string | null> {
  return lackIn(await storage.keyProofs.all(), keys);
}

/** Removes the proofs of keys that nothing is sealed with, except that of the newest key. */
export async function forgetUnusedKeys(
  { keyProofs }: Proofs,
  keys: KeyRing,
  isUsed: (keyId: string) => Promise<boolean>,
): Promise<void> {
  for (const proof of await keyProofs.all()) {
    const isNewest = proof.keyId === keys.ids[0] && opens(keys, proof.proof, contextFor(proof.keyId));
    if (!isNewest && !(await isUsed(proof.keyId))) await keyProofs.remove(proof);
  }
}

function lackIn(proofs: { keyId: string; proof: string }[], keys: KeyRing): string | null {
  const closed = proofs.find(({ keyId, proof }) => !opens(keys, proof, contextFor(keyId)));
  return closed ? wordsFor(closed.keyId, keys) : null;
}

/** The keys that stored values are sealed with, or what is wrong with ours. */
async function tryValues({ sealed }: Pick<Storage, 'sealed'>, keys: KeyRing): Promise<Set<string> | string> {
  const used = new Set<string>();
  for (const table of sealed.tables) {
    for (const seen = new Set<string>(); ;) {
      const found = await unseen(sealed, table, seen);
      if (found.size === 0) break;
      for (const [keyId, values] of found) {
        if (!values.some((value) => opensValue(keys, value))) return wordsFor(keyId, keys);
        seen.add(keyId);
        used.add(keyId);
      }
    }
  }
  return used;
}

async function unseen(
  sealed: Storage['sealed'],
  table: SealedTable,
  seen: Set<string>,
): Promise<Map<string, SealedValue[]>> {
  const page = { except: [...seen].map(prefixOf), after: null, limit: tries };
  const found = new Map<string, SealedValue[]>();
  for (const value of await sealed.page(table, page)) {
    const keyId = sealedWith(value.sealed);
    if (keyId !== null) found.set(keyId, [...(found.get(keyId) ?? []), value]);
  }
  return found;
}

/** A value of an unknown store cannot be tried, and counts as opened. */
function opensValue(keys: KeyRing, value: SealedValue): boolean {
  const context = contextOf(value);
  return context === null || opens(keys, value.sealed, context);
}

function opens(keys: KeyRing, sealed: string, context: string): boolean {
  try {
    keys.open(sealed, context);
    return true;
  } catch (error) {
    if (error instanceof SealingError) return false;
    throw error;
  }
}

function contextFor(keyId: string): string {
  return `key-proof/${keyId}`;
}

function wordsFor(keyId: string, { ids }: KeyRing): string {
  return ids.includes(keyId)
    ? `INTERLUDE_KEYS does not open what this database holds: its key "${keyId}" has another value than before; put the former value back, and give a new key a new name`
    : `INTERLUDE_KEYS does not open what this database holds: it lacks the key "${keyId}"; add it again, after the newest one, until interlude keys reseal says that it can be removed`;
}
