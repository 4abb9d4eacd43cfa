import { useCallback, useEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** Within this many pixels of the end somebody reads along, and is taken along. */
const near = 80;

/** Keeps the end in view for whoever is there, and leaves alone whoever reads further up. Answers with the way there. */
export function useStickToEnd(log: RefObject<HTMLElement | null>, content: unknown): () => void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = log.current;
    if (!element) return undefined;
    const scrolled = () => {
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < near;
    };
    element.addEventListener('scroll', scrolled, { passive: true });
    return () => element.removeEventListener('scroll', scrolled);
  }, [log]);
  useEffect(() => {
    const element = log.current;
    if (!element || !isAtEnd.current) return;
    // Of what is larger than the window, its beginning is shown: nobody reads a form from its end.
    const card = [...element.querySelectorAll<HTMLElement>('.card')].at(-1);
    const isLarge = card !== undefined && card.offsetHeight > element.clientHeight - near;
    if (isLarge) element.scrollTop = card.offsetTop - element.offsetTop - near / 4;
    else element.scrollTop = element.scrollHeight;
  }, [log, content]);
  return useCallback(() => {
    isAtEnd.current = true;
  }, []);
}
