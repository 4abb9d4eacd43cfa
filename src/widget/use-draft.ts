import { useEffect, useRef, useState } from 'react';
import { keepDraft, readDraft } from './drafts.ts';

export interface Draft {
  text: string;
  write: (text: string) => void;
  /** What was sent and not taken, before what has been begun since. */
  giveBack: (text: string) => void;
}

/** What is being written. What was kept of it is shown once the conversation is known to be one's own. */
export function useDraft(conversationId: string, isKnown: boolean): Draft {
  const [text, setText] = useState(() => (isKnown ? readDraft(conversationId) : ''));
  const now = useRef('');
  now.current = text;
  useEffect(() => {
    if (isKnown && now.current === '') setText(readDraft(conversationId));
  }, [conversationId, isKnown]);
  // At once, and not when it has been drawn: the page may take all of this away in between.
  const write = (draft: string) => {
    keepDraft(conversationId, draft);
    setText(draft);
  };
  return { text, write, giveBack: (given) => write(now.current === '' ? given : `${given}\n${now.current}`) };
}
