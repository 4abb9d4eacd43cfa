import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** Answers with what to call before more comes in above: whoever reads `log` goes on where they are. `first`: what it begins with. */
export function useKeptPlace(log: RefObject<HTMLElement | null>, first: unknown): () => void {
  const place = useRef<{ message: Element; top: number }>(null);
  useLayoutEffect(() => {
    if (!place.current) return;
    const { message, top } = place.current;
    place.current = null;
    keepTop(message, top, log.current);
  }, [log, first]);
  return () => {
    const message = log.current?.querySelector('.message');
    if (message) place.current = { message, top: message.getBoundingClientRect().top };
  };
}

/** Scrolls so that `element` is where it was. Nothing to do where the browser has done it; and at once. */
export function keepTop(element: Element, top: number, log: HTMLElement | null): void {
  log?.scrollBy({ top: element.getBoundingClientRect().top - top, behavior: 'instant' });
}
