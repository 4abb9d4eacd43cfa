/** A link to open. What became of it comes from the service, never from the window that was opened. */
import { useState } from 'react';
import { askerTitle } from '../elicitation/asker.ts';
import { isSafeToOpen } from '../elicitation/url-safety.ts';
import { Icon } from './icon.tsx';
import type { CardProps } from './card-props.ts';
import { useReturn } from './use-return.ts';

export function UrlQuestion({ question, url, answer, words }: CardProps & { url: string }) {
  const [isOpened, setOpened] = useState(false);
  const hasReturned = useReturn();
  const { context, elicitationId } = question;
  const isConnection = context.trigger === 'credential_required';
  const { before, host, after } = splitAtHost(url);
  const hostId = `host-of-${elicitationId}`;

  function open() {
    setOpened(true);
    // For a page of the server's own this is the consent; a connection is noticed by itself.
    if (!isConnection) void answer.send({ action: 'accept' });
  }

  return (
    <>
      {/* Without end, it may be scrolled; whoever has no mouse gets there as well. */}
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
        {/* Over a menu, as an address that was copied: no page hears of that. */}
        {!isConnection && !isOpened && hasReturned && (
          <button type="button" className="link" onClick={open}>
            {words.haveOpened}
          </button>
        )}
      </p>
    </>
  );
}

/** Any other address can be read and copied. A page that came by plain http itself may lead on to its own origin. */
function mayOpen(url: string): boolean {
  return isSafeToOpen(url) || url.startsWith(`${globalThis.location?.origin}/`);
}

const longAddress = 200;
/** Of a mouse: opens a link in a tab in the background. */
const middle = 1;

/** The host is what counts: it is shown as the browser reads it. */
function splitAtHost(url: string): { before: string; host: string; after: string } {
  const { protocol, username, host, pathname, search, hash } = new URL(url);
  const user = username === '' ? '' : `${username}@`;
  return { before: `${protocol}//${user}`, host, after: `${pathname}${search}${hash}` };
}
