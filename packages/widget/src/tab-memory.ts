/**
 * What a tab remembers, also across reloads: drafts of messages, and the conversation of each element. Does nothing where
 * storage is blocked.
 */
import { useEffect, useRef, useState } from 'react';

export function recall(key: string): string | undefined {
  return ignoringErrors(() => sessionStorage.getItem(key)) ?? undefined;
}

/** `undefined` forgets it. */
export function remember(key: string, text: string | undefined): void {
  ignoringErrors(() =>
    text === undefined ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, text),
  );
}

function forgetAll(prefix: string): void {
  ignoringErrors(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
  });
}

function ignoringErrors<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}

const draftPrefix = 'interlude-draft:';

function readDraft(conversationId: string): string {
  return recall(draftPrefix + conversationId) ?? '';
}

export function keepDraft(conversationId: string, text: string): void {
  remember(draftPrefix + conversationId, text === '' ? undefined : text);
}

/** As `data:` URLs. Too large for the storage of a tab, so a reload loses them. */
const draftImages = new Map<string, readonly string[]>();

export function readDraftImages(conversationId: string): readonly string[] {
  return draftImages.get(conversationId) ?? [];
}

export function keepDraftImages(conversationId: string, urls: readonly string[]): void {
  if (urls.length === 0) draftImages.delete(conversationId);
  else draftImages.set(conversationId, urls);
}

/** Called when another user signs in. */
export function forgetDrafts(): void {
  forgetAll(draftPrefix);
  draftImages.clear();
}

export interface Draft {
  text: string;
  write: (text: string) => void;
  /** Puts the text of a refused message before the current draft. */
  giveBack: (text: string) => void;
}

/** Whose draft it is. */
export interface DraftOwner {
  conversationId: string;
  /** The conversation is known to belong to the user: what is stored may be shown. */
  isKnown: boolean;
  /** Another user has signed in: nothing may be stored any more. */
  isSignedOut: () => boolean;
}

/** The text in the composer. */
export function useDraft({ conversationId, isKnown, isSignedOut }: DraftOwner): Draft {
  const [text, setText] = useState(() => (isKnown ? readDraft(conversationId) : ''));
  const now = useRef('');
  now.current = text;
  useEffect(() => {
    if (isKnown && now.current === '') setText(readDraft(conversationId));
  }, [conversationId, isKnown]);
  // Stored at once, because the page may remove the element before the next rendering.
  const write = (draft: string) => {
    if (isSignedOut()) return;
    keepDraft(conversationId, draft);
    setText(draft);
  };
  return { text, write, giveBack: (given) => write(now.current === '' ? given : `${given}\n${now.current}`) };
}

const conversationPrefix = 'interlude-conversation:';

/** The conversations shown on this page, so that two elements with equal keys do not share one. */
const shown = new Set<string>();

/** The conversation that the element began before a reload. `key` tells the elements of a page apart. */
export function recallOwn(key: string): string | undefined {
  const id = recall(conversationPrefix + key);
  return id !== undefined && shown.has(id) ? undefined : id;
}

/** `undefined` forgets it. */
export function rememberOwn(key: string, id: string | undefined): void {
  remember(conversationPrefix + key, id);
}

export function setShown(id: string, isShown: boolean): void {
  if (isShown) shown.add(id);
  else shown.delete(id);
}
