import { useRef } from 'react';
import type { FormEvent, KeyboardEvent } from 'react';
import { Icon } from './icon.tsx';
import type { Draft } from './tab-memory.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface Props {
  words: Words;
  draft: Draft;
  maySend: boolean;
  mayStop: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({ words, draft, maySend, mayStop, onSend, onStop }: Props) {
  const { text, write } = draft;
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
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    send();
  }

  return (
    <form className="composer" onSubmit={send}>
      <textarea
        ref={input}
        rows={1}
        dir={text === '' ? undefined : 'auto'}
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

/** While text is being composed, keys belong to the input method. Safari marks the last of them only by its key code. */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
