import { useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';
import { keepTop } from './use-kept-place.ts';
import { pointedAt } from './use-kept-room.ts';

/** Within this many pixels of the end somebody reads along, and is taken along. */
const near = 80;

/**
 * Keeps the end in view for whoever is there, and leaves alone whoever reads further up, or points at a question: what
 * they are about to press stays where it is. Answers with the way there.
 */
export function useStickToEnd(log: RefObject<HTMLElement | null>, content: unknown): () => void {
  const isAtEnd = useRef(true);
  const pointed = useRef<{ element: Element; top: number }>(null);
  const element = log.current?.querySelector(pointedAt);
  // Before it is drawn: afterwards it may have moved.
  pointed.current = element ? { element, top: element.getBoundingClientRect().top } : null;
  useEffect(() => {
    const element = log.current;
    if (!element) return undefined;
    const scrolled = () => {
      // Out of sight, it is nowhere.
      if (element.clientHeight === 0) return;
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < near;
    };
    element.addEventListener('scroll', scrolled, { passive: true });
    // It comes into sight, or becomes smaller: a panel is opened, a keyboard comes up.
    const sized = new ResizeObserver(() => isAtEnd.current && showEnd(element));
    sized.observe(element);
    return () => {
      element.removeEventListener('scroll', scrolled);
      sized.disconnect();
    };
  }, [log]);
  useLayoutEffect(() => {
    const { current: before } = pointed;
    // A card that was settled meanwhile has a line in its place.
    const now = before?.element.isConnected ? before.element : log.current?.querySelector(pointedAt);
    if (before && now) keepTop(now, before.top, log.current);
  }, [log, content]);
  useEffect(() => {
    if (log.current && isAtEnd.current && !pointed.current) showEnd(log.current);
  }, [log, content]);
  return useCallback(() => {
    isAtEnd.current = true;
  }, []);
}

function showEnd(log: HTMLElement): void {
  // Of what is larger than the window, its beginning is shown: nobody reads a form from its end.
  const card = [...log.querySelectorAll<HTMLElement>('.card')].at(-1);
  const isLarge = card !== undefined && card.offsetHeight > log.clientHeight - near;
  if (isLarge) log.scrollTop = card.offsetTop - log.offsetTop - near / 4;
  else log.scrollTop = log.scrollHeight;
}
