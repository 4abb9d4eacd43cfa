/**
 * Where the conversation is: in the page, or in a corner of it, behind a button that opens it and says how many questions
 * wait in it. One and the same tree, so that a conversation that is moved goes on.
 */
import { useEffect, useRef } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Icon } from './icon.tsx';
import { isComposing } from './is-composing.ts';
import type { Words } from './words.ts';

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
      {/* Not taken away while it is closed: what happens in the conversation is noticed all the same. */}
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
          {/* Drawn, not written: the button's name says it in words. */}
          {waiting > 0 && <span className="badge" data-count={waiting} />}
        </button>
      )}
    </>
  );
}
