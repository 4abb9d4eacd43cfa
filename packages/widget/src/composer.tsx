import { useRef } from 'react';
import type { ClipboardEvent, FormEvent, KeyboardEvent } from 'react';
import { AttachButton, ImageRow } from './attached-images.tsx';
import type { AttachedImages } from './attached-images.tsx';
import { Icon } from './icon.tsx';
import type { Draft } from './tab-memory.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface Props {
  words: Words;
  draft: Draft;
  /** Absent where no images can be sent. */
  images: AttachedImages | undefined;
  maySend: boolean;
  mayStop: boolean;
  onSend: (text: string, images: readonly string[]) => void;
  onStop: () => void;
}

export function Composer({ words, draft, images, maySend, mayStop, onSend, onStop }: Props) {
  const { text, write } = draft;
  const input = useRef<HTMLTextAreaElement>(null);
  const urls = images?.urls ?? [];
  const canSend = maySend && images?.isReading !== true && (text.trim() !== '' || urls.length > 0);

  function send(event?: FormEvent) {
    event?.preventDefault();
    if (!canSend) return;
    onSend(text.trim(), urls);
    write('');
    images?.clear();
    input.current?.focus();
  }

  function pressed(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    send();
  }

  function paste(event: ClipboardEvent) {
    const { files } = event.clipboardData;
    if (!images || files.length === 0 || isFormattedText(event.clipboardData)) return;
    event.preventDefault();
    void images.add([...files]);
  }

  return (
    <form className="composer" onSubmit={send} onPaste={paste}>
      {images && (
        <>
          <ImageRow words={words} images={images} />
          <AttachButton
            words={words}
            onFiles={(files) => {
              void images.add(files);
              input.current?.focus();
            }}
          />
        </>
      )}
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

/** Office programs add a picture of the text that is copied. A copied image has no plain text, a copied file no HTML. */
function isFormattedText({ types }: DataTransfer): boolean {
  return types.includes('text/plain') && types.includes('text/html');
}

/** While text is being composed, keys belong to the input method. Safari marks the last of them only by its key code. */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
