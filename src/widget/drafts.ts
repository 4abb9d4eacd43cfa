/** What was begun to be written, kept for a reload. A page that may not store anything loses its drafts, and nothing else. */
const prefix = 'interlude-draft:';

export function readDraft(conversationId: string): string {
  try {
    return sessionStorage.getItem(prefix + conversationId) ?? '';
  } catch {
    return '';
  }
}

export function keepDraft(conversationId: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(prefix + conversationId);
    else sessionStorage.setItem(prefix + conversationId, text);
  } catch {
    // As above.
  }
}

/** All of them: the next one to sign in is somebody else. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  } catch {
    // As above.
  }
}
