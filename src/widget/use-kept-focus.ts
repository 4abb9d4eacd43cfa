import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/**
 * Keeps the keyboard where it was when the focused element of `area` is removed: `fallback` gets the focus, instead of the
 * top of the page. Called by the component that removes elements; `changing` is the value it removes them for.
 */
export function useKeptFocus(
  area: RefObject<HTMLElement | null>,
  fallback: RefObject<HTMLElement | null>,
  changing: unknown,
): void {
  const hadFocus = useRef(false);
  // Read before the elements are removed.
  hadFocus.current = area.current?.contains(focusedIn(area.current)) ?? false;
  useLayoutEffect(() => {
    if (hadFocus.current && fallback.current && focusedIn(fallback.current) === null)
      // What they look at stays in view; only the focus moves.
      fallback.current.focus({ preventScroll: true });
  }, [changing, fallback]);
}

/** Works while the window is in the background, too. */
function focusedIn(element: HTMLElement): Element | null {
  const root = element.getRootNode() as ShadowRoot | Document;
  return root.activeElement === document.body ? null : root.activeElement;
}
