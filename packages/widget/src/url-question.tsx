/** A link to open. The service reports the outcome, not the opened window. */
import { useEffect, useState } from 'react';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import { isSafeToOpen, splitAtHost } from '@interlude-ai/core/elicitation/url-safety.ts';
import { Icon } from './icon.tsx';
import type { CardProps } from './use-answer.ts';

export function UrlQuestion({ question, url, answer, words }: CardProps & { url: string }) {
  const [isOpened, setOpened] = useState(false);
  const hasReturned = useReturn();
  const { context, elicitationId } = question;
  const isConnection = context.trigger === 'credential_required';
  const { before, host, after } = splitAtHost(url);
  const hostId = `host-of-${elicitationId}`;

  function open() {
    setOpened(true);
    // For a page of a server, opening it is the consent; a connection is noticed by itself.
    if (!isConnection) void answer.send({ action: 'accept' });
  }

  return (
    <>
      {/* Focusable when long, to be scrolled with the keyboard. */}
      <p className="address" tabIndex={url.length > longAddress ? 0 : undefined}>
        <span dir="ltr">
          {before}
          <strong id={hostId}>{host}</strong>
          {after}
        </span>
      </p>
      {answer.failure !== null && (
        <p className="problem" role="alert">
          {answer.failure}
        </p>
      )}
      <div className="actions">
        {mayOpen(url) && (
          <a
            className={`button ${isOpened ? 'quiet' : ''}`}
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            aria-describedby={hostId}
            onClick={open}
            onAuxClick={({ button }) => {
              if (button === middle) open();
            }}
          >
            {isOpened
              ? words.openAgain
              : isConnection
                ? words.connect(askerTitle(context) ?? words.agent)
                : words.openPage}
            <Icon name="out" />
          </a>
        )}
        <button
          type="button"
          className="button quiet"
          aria-disabled={answer.isSending}
          onClick={() => void answer.send({ action: 'decline' })}
        >
          {words.notNow}
        </button>
      </div>
      <p className="hint" role="status">
        {isOpened && (
          <>
            <Icon name="spinner" />
            {words.waitingForPage}
          </>
        )}
        {/* For a link that was opened with a menu or copied, which sends no event. */}
        {!isConnection && !isOpened && hasReturned && (
          <button type="button" className="link" onClick={open}>
            {words.haveOpened}
          </button>
        )}
      </p>
    </>
  );
}

/** Other addresses can only be read and copied. A page served over plain http may link to its own origin. */
function mayOpen(url: string): boolean {
  return isSafeToOpen(url) || url.startsWith(`${globalThis.location?.origin}/`);
}

const longAddress = 200;
/** The middle mouse button, which opens a link in a background tab. */
const middle = 1;

/** Whether the user has left this page, for another window or tab, and returned. */
function useReturn(): boolean {
  const [hasReturned, setReturned] = useState(false);
  useEffect(() => {
    let hasLeft = false;
    const listening = new AbortController();
    const looked = () => {
      if (document.hidden) hasLeft = true;
      else if (hasLeft) setReturned(true);
    };
    const left = () => {
      hasLeft = true;
    };
    const { signal } = listening;
    document.addEventListener('visibilitychange', looked, { signal });
    window.addEventListener('blur', left, { signal });
    window.addEventListener('focus', looked, { signal });
    return () => listening.abort();
  }, []);
  return hasReturned;
}
