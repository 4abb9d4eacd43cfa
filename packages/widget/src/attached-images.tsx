/** The images that go with the next message: how they are read and limited, and the row above the text. */
import { useEffect, useRef, useState } from 'react';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';
import { imageLimits, imageTypes } from '@interlude-ai/core/images.ts';
import { Icon } from './icon.tsx';
import { keepDraftImages, readDraftImages } from './tab-memory.ts';
import type { DraftOwner } from './tab-memory.ts';

/** Models see no more than this many pixels of a side. */
const longestSide = 2048;

export interface AttachedImages {
  /** As `data:` URLs. */
  urls: readonly string[];
  /** Why an image was not added; empty if all were. */
  problem: string;
  /** Files are being read, and will be among `urls`. */
  isReading: boolean;
  add: (files: readonly File[]) => Promise<void>;
  remove: (url: string) => void;
  /** Puts the images of a refused message before the others. */
  giveBack: (urls: readonly string[]) => void;
  clear: () => void;
}

export function useAttachedImages(
  words: Words,
  { conversationId, isKnown, isSignedOut }: DraftOwner,
): AttachedImages {
  const [urls, setUrls] = useState(() => (isKnown ? readDraftImages(conversationId) : []));
  const [problem, setProblem] = useState('');
  const [reading, setReading] = useState(0);
  // Ahead of the last rendering, because files are read while others are added.
  const now = useRef(urls);
  const change = (next: readonly string[]) => {
    // A file may still have been read.
    if (isSignedOut()) return;
    now.current = next;
    keepDraftImages(conversationId, next);
    setUrls(next);
  };
  useEffect(() => {
    if (isKnown && now.current.length === 0) change(readDraftImages(conversationId));
  }, [conversationId, isKnown]);
  return {
    urls,
    problem,
    isReading: reading > 0,
    async add(files) {
      setProblem('');
      setReading((count) => count + 1);
      try {
        for (const file of files) {
          const url = await readImage(file);
          if (url === undefined) setProblem(words.notAnImage);
          // Of a hundred files, the others are not read in vain.
          else if (isTooMuch([...now.current, url]))
            return setProblem(words.tooManyImages(imageLimits.perMessage));
          else if (!now.current.includes(url)) change([...now.current, url]);
        }
      } finally {
        setReading((count) => count - 1);
      }
    },
    remove(gone) {
      setProblem('');
      change(now.current.filter((url) => url !== gone));
    },
    giveBack(given) {
      const all = [...new Set([...given, ...now.current])];
      const fitting = all.filter((_, index) => !isTooMuch(all.slice(0, index + 1)));
      if (fitting.length < all.length) setProblem(words.tooManyImages(imageLimits.perMessage));
      change(fitting);
    },
    clear() {
      setProblem('');
      change([]);
    },
  };
}

function isTooMuch(urls: readonly string[]): boolean {
  const together = urls.reduce((sum, url) => sum + bytesOf(url), 0);
  return urls.length > imageLimits.perMessage || together > imageLimits.maxBytesPerMessage;
}

const bytesOf = (url: string) => ((url.length - url.indexOf(',')) * 3) / 4;

/** Undefined for other files, and for broken images. A photo that is too large is made smaller. */
async function readImage(file: File): Promise<string | undefined> {
  if (!(imageTypes as readonly string[]).includes(file.type)) return undefined;
  if (file.size <= imageLimits.maxBytes) return toDataUrl(file);
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (!bitmap) return undefined;
  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  // JPEG has no transparency, and would make it black.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL('image/jpeg', 0.85);
}

function toDataUrl(file: File): Promise<string | undefined> {
  const reader = new FileReader();
  return new Promise((resolve) => {
    reader.addEventListener('loadend', () =>
      resolve(typeof reader.result === 'string' ? reader.result : undefined),
    );
    reader.readAsDataURL(file);
  });
}

export function AttachButton({ words, onFiles }: { words: Words; onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={imageTypes.join(',')}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // So that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      <button
        type="button"
        className="round plain"
        aria-label={words.addImages}
        title={words.addImages}
        onClick={() => input.current?.click()}
      >
        <Icon name="image" />
      </button>
    </>
  );
}

export function ImageRow({ words, images }: { words: Words; images: AttachedImages }) {
  const { urls, problem, remove } = images;
  return (
    <>
      {urls.length > 0 && (
        <ul className="images">
          {urls.map((url, index) => (
            <li key={url}>
              <img src={url} alt={`${words.image} ${index + 1}`} />
              <button
                type="button"
                aria-label={`${words.removeImage} ${index + 1}`}
                onClick={() => remove(url)}
              >
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {problem !== '' && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
