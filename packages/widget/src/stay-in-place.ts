import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

/**
 * Keeps the focus near when the focused element of `area` is removed: `fallback` gets it, instead of the top of the page.
 * Called by the component that removes elements; `changing` is the value whose change removes them.
 */
export function useKeptFocus(
  area: RefObject<HTMLElement | null>,
  fallback: RefObject<HTMLElement | null>,
  changing: unknown,
): void {
  const hadFocus = useRef(false);
  // Read during rendering, before the elements are removed.
  hadFocus.current = area.current?.contains(focusedIn(area.current)) ?? false;
  useLayoutEffect(() => {
    if (hadFocus.current && fallback.current && focusedIn(fallback.current) === null)
      // Only moves the focus, not the scroll position.
      fallback.current.focus({ preventScroll: true });
  }, [changing, fallback]);
}

/** Also works while the window is in the background. */
function focusedIn(element: HTMLElement): Element | null {
  const root = element.getRootNode() as ShadowRoot | Document;
  return root.activeElement === document.body ? null : root.activeElement;
}

/**
 * Returns a function to call before messages are added at the top: the visible messages then stay in place. `first`: the
 * first message.
 */
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

/** Scrolls so that `element` is where it was. Does nothing if the browser has already done it. */
function keepTop(element: Element, top: number, log: HTMLElement | null): void {
  log?.scrollBy({ top: element.getBoundingClientRect().top - top, behavior: 'instant' });
}

/** The element under the pointer that must not move: a card, or a line that has kept the height of a card. */
const pointedAt = '.card:hover, .settled[style]';

/** Longer than a double click, and than the next question of the same call takes to open. */
const keptForMs = 1_500;

/**
 * When a card is settled, it becomes a line. While the pointer stays there, the line keeps the height of the card:
 * otherwise another card would move under the pointer, and get the second press of a double click. Then the height is released,
 * and an open question is shown from its top.
 */
export function useKeptRoom(
  card: RefObject<HTMLElement | null>,
  line: RefObject<HTMLElement | null>,
  status: string,
): void {
  const height = useRef(0);
  // Read during rendering, while the card still exists. Only with a mouse: a tapped element counts as hovered, too.
  height.current =
    card.current?.matches(':hover') && matchMedia('(hover)').matches ? card.current.offsetHeight : 0;
  useLayoutEffect(() => {
    const element = line.current;
    if (!element || height.current === 0) return;
    element.style.minHeight = `${height.current}px`;
    const giveUp = () => element.removeAttribute('style');
    element.addEventListener('pointerleave', giveUp);
    setTimeout(() => {
      if (!element.hasAttribute('style')) return;
      giveUp();
      const log = element.closest<HTMLElement>('.log');
      if (log?.querySelector('.card')) showEnd(log);
    }, keptForMs);
  }, [line, status]);
}

/** Within this many pixels of the end, the log follows it. */
const near = 80;

/**
 * Keeps the end in view, and shows a new question from its top, unless the user has scrolled up or points at a question, which
 * must not move. Returns a function that follows the end again.
 */
export function useStickToEnd(log: RefObject<HTMLElement | null>, content: unknown): () => void {
  const isAtEnd = useRef(true);
  const pointed = useRef<{ element: Element; top: number }>(null);
  /** The open question that was last brought into view. */
  const shown = useRef<Element>(null);
  const element = log.current?.querySelector(pointedAt);
  // Read during rendering, before it may move.
  pointed.current = element ? { element, top: element.getBoundingClientRect().top } : null;
  useEffect(() => {
    const element = log.current;
    if (!element) return undefined;
    const scrolled = () => {
      // While hidden, it has no scroll position.
      if (element.clientHeight === 0) return;
      const { scrollTop, scrollHeight, clientHeight } = element;
      isAtEnd.current =
        scrollHeight - scrollTop - clientHeight < near || Math.abs(scrollTop - endOf(element)) < near;
    };
    element.addEventListener('scroll', scrolled, { passive: true });
    // When it is shown or shrinks: a panel opens, a keyboard appears.
    const sized = new ResizeObserver(() => isAtEnd.current && showEnd(element));
    sized.observe(element);
    return () => {
      element.removeEventListener('scroll', scrolled);
      sized.disconnect();
    };
  }, [log]);
  useLayoutEffect(() => {
    const { current: before } = pointed;
    // A card that was settled meanwhile was replaced by a line.
    const now = before?.element.isConnected ? before.element : log.current?.querySelector(pointedAt);
    if (before && now) keepTop(now, before.top, log.current);
  }, [log, content]);
  useEffect(() => {
    if (!log.current || !isAtEnd.current || pointed.current) return;
    const card = log.current.querySelector('.card');
    // While the user reads and fills in a question, it stays where they have scrolled to.
    if (card && card === shown.current) return;
    shown.current = card;
    showEnd(log.current);
  }, [log, content]);
  return useCallback(() => {
    isAtEnd.current = true;
  }, []);
}

/** Whether the log shows the element with this id: more of it than an edge. Until that is known, the last answer counts. */
export function useIsInView(log: RefObject<HTMLElement | null>, id: string | undefined): boolean {
  const [isInView, setIsInView] = useState(true);
  useEffect(() => {
    const { current: root } = log;
    const element = id === undefined ? null : root?.querySelector(`#${CSS.escape(id)}`);
    if (!root || !element) return undefined;
    const observer = new IntersectionObserver(
      (changes) => setIsInView(changes.at(-1)?.isIntersecting === true),
      { root, rootMargin: `-${near}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [log, id]);
  return isInView;
}

function showEnd(log: HTMLElement): void {
  log.scrollTop = endOf(log);
}

/** Where the log ends for its reader: at most where the first open question begins. */
function endOf(log: HTMLElement): number {
  const end = log.scrollHeight - log.clientHeight;
  const card = log.querySelector<HTMLElement>('.card');
  return card ? Math.min(end, card.offsetTop - log.offsetTop - near / 4) : end;
}
