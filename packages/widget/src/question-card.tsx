/** A question to the user, and its outcome. */
import { useEffect, useRef, useState, useId } from 'react';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { askerTitle, whoAsks } from '@interlude-ai/core/elicitation/elicitation.ts';
import { useAnswer } from './use-answer.ts';
import type { Answering, CardProps } from './use-answer.ts';
import { isApproval, longestReason } from '@interlude-ai/core/elicitation/approval.ts';
import { FormQuestion } from './form-question.tsx';
import { Icon } from './icon.tsx';
import { isComposing } from './composer.tsx';
import { SettledQuestion } from './settled-question.tsx';
import { toolName } from './tool-call.tsx';
import { useKeptFocus, useKeptRoom } from './stay-in-place.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';
import { lookOf } from '@interlude-ai/core/elicitation/server-look.ts';
import { isSafeToOpen, splitAtHost } from '@interlude-ai/core/elicitation/url-safety.ts';
import type { FormEvent } from 'react';

interface Props {
  question: ElicitationRequest;
  answering: Answering;
  now: () => number;
  words: Words;
  askAgain: (() => void) | undefined;
}

export function QuestionCard({ question, answering, now, words, askAgain }: Props) {
  const card = useRef<HTMLElement>(null);
  const settled = useRef<HTMLParagraphElement>(null);
  const isFilledIn = useRef(false);
  const answer = useAnswer(question.elicitationId, answering, words);
  useKeptFocus(card, settled, question.status);
  useKeptRoom(card, settled, question.status);
  if (question.status !== 'pending')
    return <SettledQuestion {...{ question, words, askAgain }} given={answer} place={settled} />;
  const { context, message, expiresAt, elicitationId } = question;
  const id = cardId(elicitationId);
  const title = askerTitle(context) ?? words.agent;
  const who = whoAsks(context).join(' › ');
  // Dismissing is another answer than “not now”.
  const dismiss = () => void answer.send({ action: 'cancel' });
  // Only approvals look like this, never a form of a server.
  const isOurs = isApproval(context);
  const tool =
    isOurs || context.toolName === undefined ? '' : ` ${words.needsTool(toolName(context.toolName))}`;
  return (
    <section
      className={isOurs ? 'card approval' : 'card'}
      ref={card}
      id={id}
      tabIndex={-1}
      // Not a landmark: several questions of one server would have the same name.
      role="group"
      aria-labelledby={`${id}-title ${id}-message`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        // The panel around it would close on Escape, too.
        event.stopPropagation();
        // If something was entered, Escape first moves to the button, so that one key does not lose it.
        const button = event.currentTarget.querySelector<HTMLElement>('.dismiss');
        if (isFilledIn.current && event.target !== button) button?.focus();
        else dismiss();
      }}
      onInput={() => (isFilledIn.current = true)}
    >
      <header>
        {isOurs ? (
          <span className="mark" aria-hidden="true">
            <Icon name="shield" />
          </span>
        ) : (
          <ServerMark context={context} title={title} />
        )}
        <div className="who">
          <p className="title" id={`${id}-title`} dir="auto">
            {isOurs ? words.needsApproval : title}
          </p>
          <Countdown until={expiresAt} now={now} words={words} />
          <p dir="auto">
            {[isOurs && title, context.host, who && words.askedBy(who)].filter(Boolean).join(' · ')}
            {tool}
          </p>
        </div>
        <button
          type="button"
          className="dismiss"
          aria-label={words.dismiss}
          title={words.dismiss}
          aria-disabled={answer.isSending}
          onClick={dismiss}
        >
          <Icon name="cross" />
        </button>
      </header>
      <p className="message" id={`${id}-message`} dir="auto">
        {message}
      </p>
      {(context.warnings ?? []).map((warning) => (
        <p className="warning" key={warning}>
          <Icon name="warning" />
          {words.warnings[warning as keyof Words['warnings']] ?? warning}
        </p>
      ))}
      {isOurs ? (
        <ApprovalQuestion {...{ question, answer, words }} />
      ) : question.mode === 'url' ? (
        <UrlQuestion {...{ question, answer, words }} url={question.url} />
      ) : (
        <FormQuestion {...{ question, answer, words }} schema={question.requestedSchema} />
      )}
    </section>
  );
}

export function cardId(elicitationId: string): string {
  return `question-${elicitationId}`;
}

function ServerMark({ context, title }: { context: ElicitationRequest['context']; title: string }) {
  const { server: name = title, colour, picture } = context;
  const look = lookOf({ name, title, colour, picture });
  // The page's policy may forbid pictures.
  const [isForbidden, setForbidden] = useState(false);
  if (look.picture !== null && !isForbidden)
    return <img className="mark" src={look.picture} alt="" onError={() => setForbidden(true)} />;
  return (
    <span className="mark" aria-hidden="true" style={{ background: look.colour, color: look.ink }}>
      {look.letter}
    </span>
  );
}

interface CountdownProps {
  until: string;
  /** By the service's clock, because the local one may be wrong. */
  now: () => number;
  words: Words;
}

/** Not read out by screen readers: every second would be. */
function Countdown({ until, now, words }: CountdownProps) {
  const [left, setLeft] = useState(() => secondsUntil(until, now));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(until, now)), 1_000);
    return () => clearInterval(timer);
  }, [until, now]);
  return (
    <span className="countdown" role="timer" aria-live="off" dir="auto" data-soon={left < 60}>
      {words.timeLeft(Math.floor(left / 60), left % 60)}
    </span>
  );
}

function secondsUntil(until: string, now: () => number): number {
  return Math.max(0, Math.round((Date.parse(until) - now()) / 1_000));
}

/** A link to open. The service reports the outcome, not the opened window. */
function UrlQuestion({ question, url, answer, words }: CardProps & { url: string }) {
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

/** The question whether a tool call may be made: shows its arguments, and for how long an approval applies. */
function ApprovalQuestion({ question, answer, words }: CardProps) {
  const [remember, setRemember] = useState<'' | 'conversation' | 'always'>('');
  const [reason, setReason] = useState<string | null>(null);
  const id = useId();
  const { isSending, failure } = answer;
  const { arguments: shown, toolName } = question.context;

  function approve(event: FormEvent) {
    event.preventDefault();
    void answer.send({ action: 'accept', ...(remember !== '' && { remember }) });
  }

  function decline() {
    const why = reason?.trim();
    void answer.send({ action: 'decline', ...(why && { reason: why }) });
  }

  return (
    <form noValidate onSubmit={approve} aria-busy={isSending}>
      {shown !== undefined && (
        <figure className="arguments">
          <figcaption id={`${id}-arguments`}>
            {words.willBeSent}
            {toolName !== undefined && <code>{toolName}</code>}
          </figcaption>
          {/* Focusable, to be scrolled with the keyboard. */}
          <pre tabIndex={0} aria-labelledby={`${id}-arguments`}>
            {shown}
          </pre>
        </figure>
      )}
      {reason === null ? (
        <div className="field next-time">
          <label htmlFor={`${id}-remember`}>{words.nextTime}</label>
          <select
            id={`${id}-remember`}
            value={remember}
            onChange={(event) => setRemember(event.currentTarget.value as typeof remember)}
          >
            <option value="">{words.askEachTime}</option>
            <option value="conversation">{words.allowInConversation}</option>
            <option value="always">{words.allowAlways}</option>
          </select>
        </div>
      ) : (
        <div className="field">
          <label htmlFor={`${id}-reason`}>
            {words.whyNot} <small>{words.optional}</small>
          </label>
          <textarea
            id={`${id}-reason`}
            // The field appears when the user presses “Decline and say why”.
            autoFocus
            maxLength={longestReason}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </div>
      )}
      {failure !== null && (
        <p className="problem" role="alert">
          {failure}
        </p>
      )}
      <div className="actions">
        {reason === null && (
          <button className="button" aria-disabled={isSending}>
            {words.approve}
          </button>
        )}
        <button
          type="button"
          className={reason === null ? 'button quiet' : 'button'}
          aria-disabled={isSending}
          onClick={decline}
        >
          {words.decline}
        </button>
        <button type="button" className="link" onClick={() => setReason(reason === null ? '' : null)}>
          {reason === null ? words.declineWithReason : words.back}
        </button>
      </div>
    </form>
  );
}
