/** The pages on which nothing is left to decide. Pure: data in, `Page` out. */
import type { Outcome } from '@interlude-ai/core/elicitation/elicitation.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { Page } from './layout.ts';
import { clock, dash, exclamation, monogram, person, tick } from './elements.ts';
import type { PageWords, Text } from './words.ts';

/**
 * `account`: who the provider says it is, so that the person notices a wrong account. `tooLate`: connected after the question
 * had expired.
 */
export function connectedPage(
  words: PageWords,
  serverTitle: string,
  account: string | null,
  tooLate: boolean,
): Page {
  const title = words.connected(serverTitle);
  const { connectedAs, askAgain, goesOn } = words.account;
  return {
    status: 200,
    title,
    body: html`${tick}
      <h1>${title}</h1>
      <p class="lead">${account !== null && connectedAs(account)} ${tooLate ? askAgain : goesOn}</p>`,
    wayBack: 'button',
  };
}

/** `connectionsUrl`: where the person can still connect the account. */
export function refusedQuestionPage(
  { account: words }: PageWords,
  action: 'decline' | 'cancel',
  serverTitle: string,
  connectionsUrl: string,
): Page {
  const connections = html`<a href="${connectionsUrl}">${words.amongConnections}</a>`;
  const [heading, lead] =
    action === 'decline' ? [words.notNow, words.declined] : [words.dismissed, words.cancelled];
  return {
    status: 200,
    title: words.staysUnconnected(serverTitle),
    body: html`${monogram(serverTitle)}
      <h1>${heading}</h1>
      <p class="lead">${lead(serverTitle, connections)}</p>`,
    wayBack: 'button',
  };
}

/** 410: the link was valid once. */
export function finishedPage({ notices }: PageWords, outcome: Exclude<Outcome, 'accept'>): Page {
  const pages = {
    decline: plain(410, dash, notices.saidNotNow),
    cancel: plain(410, dash, notices.closed),
    expired: plain(410, clock, notices.expired),
  };
  return { ...pages[outcome], wayBack: 'button' };
}

/** At `/`, without a playground. */
export function homePage({ home }: PageWords, publicUrl: string): Page {
  return {
    status: 200,
    title: 'Interlude',
    body: html`<h1>Interlude</h1>
      <p class="lead">${home.lead}</p>
      <div class="actions">
        <a class="button" href="${publicUrl}/connections">${home.connections}</a>
        <a class="button quiet" href="${publicUrl}/openapi.json">${home.api}</a>
      </div>`,
  };
}

/** Reveals nothing about the question. */
export function refusedPage(words: PageWords, signedInAs: string, signInUrl: string): Page {
  const { forSomebodyElse, onlyTheAsked } = words.question;
  return {
    status: 403,
    title: forSomebodyElse,
    body: html`${exclamation}
      <h1>${forSomebodyElse}</h1>
      <p class="lead">${onlyTheAsked(signedInAs)}</p>
      <div class="actions"><a class="button quiet" href="${signInUrl}">${words.signInAsOther}</a></div>`,
  };
}

export function signedOutPage(words: PageWords, signInUrl: string, isForQuestion: boolean): Page {
  const { signedOut, youAreSignedOut, signInToAnswer, signInToSeeConnections } = words.account;
  return {
    status: 200,
    title: signedOut,
    body: html`${person}
      <h1>${youAreSignedOut}</h1>
      <p class="lead">${isForQuestion ? signInToAnswer : signInToSeeConnections}</p>
      <div class="actions"><a class="button" href="${signInUrl}">${words.signIn}</a></div>`,
  };
}

/** A problem of the API, for a person at a browser. `home`: the address of the start page. */
export function problemPage(
  words: PageWords,
  { statusCode, code }: { statusCode: number; code: string },
  home?: string,
): Page {
  const texts: Partial<Record<string, Text>> = words.problems;
  const page = plain(statusCode, exclamation, texts[code] ?? words.otherProblem);
  if (home === undefined) return page;
  return {
    ...page,
    body: html`${page.body}
      <div class="actions"><a class="button" href="${home}">${words.goToStart}</a></div>`,
  };
}

/** Something is wrong. `again`: where to start over. */
export function notice(
  words: PageWords,
  status: number,
  text: keyof PageWords['notices'] | Text,
  again?: string,
): Page {
  const mark = text === 'unknown' ? dash : exclamation;
  const page = plain(status, mark, typeof text === 'string' ? words.notices[text] : text);
  if (again === undefined) return page;
  return {
    ...page,
    body: html`${page.body}
      <div class="actions"><a class="button" href="${again}">${words.tryAgain}</a></div>`,
  };
}

export function plain(status: number, mark: Html, [heading, explanation]: Text): Page {
  return {
    status,
    title: heading,
    body: html`${mark}
      <h1>${heading}</h1>
      <p class="lead">${explanation}</p>`,
  };
}

/** The response to a form that leads elsewhere. Not a redirect: `form-action` of our Content-Security-Policy would block it. */
export function leavingPage(words: PageWords, where: string, url: string, explanation: Html | string): Page {
  return {
    status: 200,
    title: words.goingTo(where),
    onwardUrl: url,
    body: html`${monogram(where)}
      <h1>${words.takingYouTo(where)}</h1>
      <p class="lead">${explanation}</p>
      <div class="actions"><a class="button" href="${url}" rel="noreferrer">${words.continue}</a></div>`,
  };
}
