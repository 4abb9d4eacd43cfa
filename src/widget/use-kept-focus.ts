import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/**
 * Whoever was in `area` when what they were at is taken away goes on at `place`, and not at the top of the page. To be
 * called by whoever takes it away, with what changes then.
 */
export function useKeptFocus(
  area: RefObject<HTMLElement | null>,
  place: RefObject<HTMLElement | null>,
  changing: unknown,
): void {
  const had = useRef(false);
  // While the elements are still there: afterwards nobody knows.
  had.current = area.current?.contains(focusedIn(area.current)) ?? false;
  useLayoutEffect(() => {
    if (had.current && place.current && focusedIn(place.current) === null)
      // They see what they were at; only the focus was lost.
      place.current.focus({ preventScroll: true });
  }, [changing, place]);
}

/** Also while the window itself is in the background. */
function focusedIn(element: HTMLElement): Element | null {
  const root = element.getRootNode() as ShadowRoot | Document;
  return root.activeElement === document.body ? null : root.activeElement;
}
