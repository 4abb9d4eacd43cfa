/**
 * The conversation that an element began itself, remembered for as long as its tab lives, so that a reload comes back to
 * it. A page that may not store anything begins a new one.
 */
const prefix = 'interlude-conversation:';

/** Shown in this page by now: two elements that are told apart by nothing do not share one. */
const shown = new Set<string>();

/** `place` tells the elements of a page apart. */
export function recallOwn(place: string): string | undefined {
  try {
    const id = sessionStorage.getItem(prefix + place) ?? undefined;
    return id !== undefined && shown.has(id) ? undefined : id;
  } catch {
    return undefined;
  }
}

export function rememberOwn(place: string, id: string): void {
  try {
    sessionStorage.setItem(prefix + place, id);
  } catch {
    // As above.
  }
}

export function forgetOwn(place: string): void {
  try {
    sessionStorage.removeItem(prefix + place);
  } catch {
    // As above.
  }
}

export function setShown(id: string, isShown: boolean): void {
  if (isShown) shown.add(id);
  else shown.delete(id);
}
