import { useLayoutEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** What the pointer rests on, and what must therefore not be moved: a card, or a line that has kept the room of one. */
export const pointedAt = '.card:hover, .settled[style]';

/** Longer than between the presses of a double click, and than the next question of the same call takes to open. */
const keptForMs = 1_500;

/**
 * A card becomes a line when it is settled. As long as the pointer stays where the card was, the line takes the card's
 * room: another card would come under the pointer otherwise, and be answered by the second press of a double click. Where
 * no other card is open by then, the room is given up, or the answer would stand below a hole.
 */
export function useKeptRoom(
  card: RefObject<HTMLElement | null>,
  line: RefObject<HTMLElement | null>,
  status: string,
): void {
  const height = useRef(0);
  // While the card is still there: afterwards nobody knows. A finger is nowhere, though what it tapped counts as hovered.
  height.current =
    card.current?.matches(':hover') && matchMedia('(hover)').matches ? card.current.offsetHeight : 0;
  useLayoutEffect(() => {
    const element = line.current;
    if (!element || height.current === 0) return;
    element.style.minHeight = `${height.current}px`;
    const giveUp = () => element.removeAttribute('style');
    element.addEventListener('pointerleave', giveUp);
    setTimeout(() => {
      if (!(element.getRootNode() as ParentNode).querySelector('.card')) giveUp();
    }, keptForMs);
  }, [line, status]);
}
