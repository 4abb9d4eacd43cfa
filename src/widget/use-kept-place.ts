import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** Answers with what to call before more comes in above: whoever reads `log` goes on where they are. `first`: what it begins with. */
export function useKeptPlace(log: RefObject<HTMLElement | null>, first: unknown): () => void {
  const place = useRef<{ message: Element; top: number }>(null);
  useLayoutEffect(() => {
    if (!place.current || !log.current) return;
    const { message, top } = place.current;
    place.current = null;
    // Nothing to do where the browser has done it; and what was there stays there, at once.
    log.current.scrollBy({ top: message.getBoundingClientRect().top - top, behavior: 'instant' });
  }, [log, first]);
  return () => {
    const message = log.current?.querySelector('.message');
    if (message) place.current = { message, top: message.getBoundingClientRect().top };
  };
}
