/** The pages on which nothing is left to decide. Pure: data in, `Page` out. */
import type { Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { Page } from './layout.ts';
import { clock, dash, exclamation, monogram, person, tick } from './elements.ts';

/**
 * `account`: who the provider says it is, so that the person notices a wrong account. `tooLate`: connected after the question
 * had expired.
 */
export function connectedPage(serverTitle: string, account: string | null, tooLate: boolean): Page {
  const who = account !== null && html`Connected as <strong>${account}</strong>.`;
  const next = tooLate
    ? 'The question had expired meanwhile: ask again in your conversation, and it will work right away.'
    : 'Your conversation is going on; you can close this window.';
  return {
    status: 200,
    title: `${serverTitle} is connected`,
    body: html`${tick}
      <h1>${serverTitle} is connected</h1>
      <p class="lead">${who} ${next}</p>`,
    wayBack: 'button',
  };
}

/** `connectionsUrl`: where the person can still connect the account. */
export function refusedQuestionPage(
  action: 'decline' | 'cancel',
  serverTitle: string,
  connectionsUrl: string,
): Page {
  const [heading, result] =
    action === 'decline'
      ? ['Not now, then', 'was not connected, and the conversation goes on without it']
      : ['The question is dismissed', 'was not connected; ask again in your conversation when it suits you'];
  return {
    status: 200,
    title: `${serverTitle} stays unconnected`,
    body: html`${monogram(serverTitle)}
      <h1>${heading}</h1>
      <p class="lead">
        ${serverTitle} ${result}. You can close this window, or connect it later among
        <a href="${connectionsUrl}">your connections</a>.
      </p>`,
    wayBack: 'button',
  };
}

type Words = [mark: Html, heading: string, explanation: string];

const finishedWords: Record<Exclude<Outcome, 'accept'>, Words> = {
  decline: [
    dash,
    'You said “not now”',
    'This question is answered. To connect after all, ask again in your conversation.',
  ],
  cancel: [
    dash,
    'This question is closed',
    'It is no longer needed. If something is missing, ask again in your conversation.',
  ],
  expired: [
    clock,
    'This question has expired',
    'It waited too long for an answer. Ask again in your conversation to get a new link.',
  ],
};

/** 410: the link was valid once. */
export function finishedPage(outcome: Exclude<Outcome, 'accept'>): Page {
  const [mark, heading, explanation] = finishedWords[outcome];
  return { ...plain(410, mark, heading, explanation), wayBack: 'button' };
}

/** At `/`, without a playground. */
export function homePage(publicUrl: string): Page {
  return {
    status: 200,
    title: 'Interlude',
    body: html`<h1>Interlude</h1>
      <p class="lead">
        This service runs agents, and asks you where they need you. You talk to them in an app, a chat or an
        editor.
      </p>
      <div class="actions">
        <a class="button" href="${publicUrl}/connections">Your connections and questions</a>
        <a class="button quiet" href="${publicUrl}/openapi.json">The API, for programs</a>
      </div>`,
  };
}

export function unknownPage(): Page {
  return plain(
    404,
    dash,
    'Nothing is asked here',
    'The link may be incomplete. Open it again from your conversation.',
  );
}

/** Reveals nothing about the question. */
export function refusedPage(signedInAs: string, signInUrl: string): Page {
  return {
    status: 403,
    title: 'This question is for somebody else',
    body: html`${exclamation}
      <h1>This question is for somebody else</h1>
      <p class="lead">
        You are signed in as <strong>${signedInAs}</strong>. Only the person who was asked can answer it.
      </p>
      <div class="actions"><a class="button quiet" href="${signInUrl}">Sign in as someone else</a></div>`,
  };
}

export function signedOutPage(signInUrl: string, isForQuestion: boolean): Page {
  return {
    status: 200,
    title: 'Signed out',
    body: html`${person}
      <h1>You are signed out</h1>
      <p class="lead">
        ${
          isForQuestion
            ? 'Sign in as the person who was asked to answer the question.'
            : 'Sign in again to see your connections.'
        }
      </p>
      <div class="actions"><a class="button" href="${signInUrl}">Sign in</a></div>`,
  };
}

const problemWords: Record<string, [heading: string, explanation: string]> = {
  invalid_request: [
    'This is not understood',
    'The address or the form is incomplete. Go back, and try again.',
  ],
  not_found: ['There is no page here', 'The address may be mistyped or out of date.'],
  rate_limited: ['Too many tries', 'Wait a minute, then open the page again.'],
  body_too_large: ['That is too much', 'Nothing was changed. Go back, and send less.'],
  unavailable: [
    'Not available right now',
    'Try again in a moment. What you sent may have arrived nevertheless: the page you came from shows what has come of it.',
  ],
  unknown_host: ['Not the address of this page', 'Open it by the address that you were given.'],
  unsupported_media_type: ['This form is not understood', 'Open the page you came from again.'],
};

/** A problem of the API, for a person at a browser. `home`: the address of the start page. */
export function problemPage(problem: { statusCode: number; code: string }, home?: string): Page {
  const [heading, explanation] = problemWords[problem.code] ?? [
    'Something went wrong',
    'Try again in a moment.',
  ];
  const page = notice(problem.statusCode, heading, explanation);
  if (home === undefined) return page;
  return {
    ...page,
    body: html`${page.body}
      <div class="actions"><a class="button" href="${home}">Go to the start page</a></div>`,
  };
}

/** Something is wrong. `again`: where to start over. */
export function notice(status: number, heading: string, explanation: string, again?: string): Page {
  return plain(status, exclamation, heading, explanation, again);
}

export function plain(
  status: number,
  mark: Html,
  heading: string,
  explanation: string,
  again?: string,
): Page {
  return {
    status,
    title: heading,
    body: html`${mark}
      <h1>${heading}</h1>
      <p class="lead">${explanation}</p>
      ${again !== undefined && html`<div class="actions"><a class="button" href="${again}">Try again</a></div>`}`,
  };
}

/** The response to a form that leads elsewhere. Not a redirect: `form-action` of our Content-Security-Policy would block it. */
export function leavingPage(title: string, url: string, explanation: Html): Page {
  return {
    status: 200,
    title: `Going to ${title}`,
    onwardUrl: url,
    body: html`${monogram(title)}
      <h1>Taking you to ${title}</h1>
      <p class="lead">${explanation}</p>
      <div class="actions"><a class="button" href="${url}" rel="noreferrer">Continue</a></div>`,
  };
}
