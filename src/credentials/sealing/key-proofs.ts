/**
 * Whether the keys of this process are those of the database, asked before it serves or polls anything. Every key that is
 * or was the newest one of a process leaves a text that it has encrypted, until `interlude keys reseal` finds nothing sealed
 * with it any more. A process that cannot open all of these texts would lose accounts, and seal others with a key that
 * nobody else has.
 */
import type { SealedTable, SealedValue } from '../../storage/ports/sealed-values.ts';
import type { Storage } from '../../storage/storage.ts';
import { contextOf } from './contexts.ts';
import { prefixOf, sealedWith, SealingError } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';

type Proofs = Pick<Storage, 'keyProofs'>;

/** What older versions left in the place of proofs. It said nothing about keys that came before it. */
const formerProof = 'marker:keys';
const text = 'interlude';
/** Of one key in one table: that many may be damaged before the key counts as another one. */
const tries = 20;

/** Null, and the newest key has its proof, when the keys are the right ones; else what is wrong with them. */
export async function proveKeys(
  storage: Proofs & Pick<Storage, 'sealed' | 'oauth'>,
  keys: KeyRing,
): Promise<string | null> {
  const proofs = await storage.keyProofs.all();
  const lack = lackIn(proofs, keys);
  if (lack !== null) return lack;
  const ids = new Set(keys.ids.slice(0, 1));
  // A database from before there were proofs, or an empty one.
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
  // Another process may have begun with other keys at the same moment. At least one of the two sees it here.
  const lackNow = await lackOfKeys(storage, keys);
  if (lackNow !== null) for (const proof of written) await storage.keyProofs.remove(proof);
  else if (proofs.length === 0) await storage.oauth.forget(formerProof);
  return lackNow;
}

/** What is wrong with the keys by now, if anything: other processes may have begun to seal with a new one. */
export async function lackOfKeys(storage: Proofs, keys: KeyRing): Promise<string | null> {
  return lackIn(await storage.keyProofs.all(), keys);
}

/** Forgets keys that nothing is sealed with, also such as nobody has any more, except the newest one. */
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

/** The keys that the values in the database are sealed with, or what is wrong with ours. */
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

/** What belongs to a store of another version cannot be tried, and counts as opened. */
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
    ? `INTERLUDE_KEYS does not open what this database holds: its key "${keyId}" is another one of the same name; put the former back, and give a new key a new name`
    : `INTERLUDE_KEYS does not open what this database holds: it lacks the key "${keyId}"; put it back, behind the newest one, until interlude keys reseal says that it may go`;
}
