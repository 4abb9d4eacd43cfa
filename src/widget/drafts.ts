/** What was begun to be written, kept for a reload. */
import { forgetAll, recall, remember } from './tab-memory.ts';

const prefix = 'interlude-draft:';

export function readDraft(conversationId: string): string {
  return recall(prefix + conversationId) ?? '';
}

export function keepDraft(conversationId: string, text: string): void {
  remember(prefix + conversationId, text === '' ? undefined : text);
}

/** All of them: the next one to sign in is somebody else. */
export function forgetDrafts(): void {
  forgetAll(prefix);
}
