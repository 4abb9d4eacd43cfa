/**
 * Places the conversation in the page, or floating in a corner, behind a button that shows how many questions are open.
 * Both use the same tree, so that a conversation continues when it is moved.
 */
import { useEffect, useRef } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Icon } from './icon.tsx';
import { isComposing } from './composer.tsx';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

interface Props {
  isFloating: boolean;
  isOpen: boolean;
  waiting: number;
  words: Words;
  onToggle: (isOpen: boolean) => void;
  children: ReactNode;
}

export function Place({ isFloating, isOpen, waiting, words, onToggle, children }: Props) {
  const panel = useRef<HTMLDivElement>(null);
  const launcher = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (isOpen === wasOpen.current) return;
    wasOpen.current = isOpen;
    if (isOpen) panel.current?.querySelector('textarea')?.focus();
    else launcher.current?.focus();
  }, [isOpen]);

  function pressed(event: KeyboardEvent) {
    if (event.key === 'Escape' && !isComposing(event)) onToggle(false);
  }

  return (
    <>
      {/* Hidden, not removed, while it is closed, so that the conversation goes on. */}
      <div
        ref={panel}
        {...(isFloating
          ? { className: 'panel', role: 'dialog', 'aria-label': words.conversation, onKeyDown: pressed }
          : { className: 'place' })}
        hidden={isFloating && !isOpen}
      >
        {isFloating && (
          <div className="head">
            <span>{words.conversation}</span>
            <button
              type="button"
              className="round quiet"
              aria-label={words.close}
              title={words.close}
              onClick={() => onToggle(false)}
            >
              <Icon name="cross" />
            </button>
          </div>
        )}
        {children}
      </div>
      {isFloating && (
        <button
          type="button"
          className="launcher"
          ref={launcher}
          hidden={isOpen}
          aria-label={waiting === 0 ? words.open : words.openWaiting(waiting)}
          onClick={() => onToggle(true)}
        >
          <Icon name="chat" />
          {/* Only drawn: the label of the button contains the number. */}
          {waiting > 0 && <span className="badge" data-count={waiting} />}
        </button>
      )}
    </>
  );
}
