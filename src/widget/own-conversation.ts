/** The conversation that an element began itself, remembered so that a reload comes back to it. */
import { recall, remember } from './tab-memory.ts';

const prefix = 'interlude-conversation:';

/** Shown in this page by now: two elements that are told apart by nothing do not share one. */
const shown = new Set<string>();

/** `key` tells the elements of a page apart. */
export function recallOwn(key: string): string | undefined {
  const id = recall(prefix + key);
  return id !== undefined && shown.has(id) ? undefined : id;
}

/** `undefined` forgets it. */
export function rememberOwn(key: string, id: string | undefined): void {
  remember(prefix + key, id);
}

export function setShown(id: string, isShown: boolean): void {
  if (isShown) shown.add(id);
  else shown.delete(id);
}
