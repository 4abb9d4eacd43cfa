import { useRef, useState } from 'react';
import type { FormEvent, KeyboardEvent } from 'react';
import { keepDraft, readDraft } from './drafts.ts';
import { Icon } from './icon.tsx';
import type { Words } from './words.ts';

interface Props {
  words: Words;
  conversationId: string;
  maySend: boolean;
  mayStop: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({ words, conversationId, maySend, mayStop, onSend, onStop }: Props) {
  const [text, setText] = useState(() => readDraft(conversationId));
  // At once, and not when it has been drawn: the page may take all of this away in between.
  const write = (draft: string) => {
    keepDraft(conversationId, draft);
    setText(draft);
  };
  const input = useRef<HTMLTextAreaElement>(null);
  const canSend = maySend && text.trim() !== '';

  function send(event?: FormEvent) {
    event?.preventDefault();
    if (!canSend) return;
    onSend(text.trim());
    write('');
    input.current?.focus();
  }

  function pressed(event: KeyboardEvent) {
    // While a word is being composed, Enter belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form className="composer" onSubmit={send}>
      <textarea
        ref={input}
        rows={1}
        dir="auto"
        aria-label={words.composerLabel}
        placeholder={words.composerPlaceholder}
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      {mayStop && (
        <button
          type="button"
          className="round quiet"
          aria-label={words.stop}
          title={words.stop}
          onClick={onStop}
        >
          <Icon name="stop" />
        </button>
      )}
      <button className="round" aria-label={words.send} title={words.send} disabled={!canSend}>
        <Icon name="send" />
      </button>
    </form>
  );
}
