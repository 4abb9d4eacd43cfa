/** The pages of questions for accounts. Pure: data in, `Page` out; no JavaScript needed. */
import type { UrlWarning, ConnectionReason } from '../../../elicitation/elicitation.ts';
import { detail, scopeList, cross, monogram, timeOf } from '../elements.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import type { Page } from '../layout.ts';
import { returnField } from '../return-url.ts';
import { signedIn, signedInAs } from '../signed-in.ts';
import type { SignedIn } from '../signed-in.ts';
import { whoAsks } from '../../../elicitation/elicitation.ts';
import type { ConnectionQuestion } from '../../../service/accounts.ts';
import type { PagesParts } from '../context.ts';
import type { Session } from '../login/session.ts';
import { askWhom } from '../../../elicitation/wording.ts';

const warningWords: Record<UrlWarning, string> = {
  punycode: 'This address contains look-alike letters. Continue only if you recognise it.',
  userinfo: 'This address hides a name before its real host. Continue only if you recognise it.',
  ip_host: 'This address is a bare number instead of a name.',
  plain_http: 'The connection to this address is not encrypted.',
};

/** For accounts that are connected on the page itself, with an API key. */
interface GivenHere {
  permissions: Html;
  form: Html;
}

export function questionPage(view: QuestionView, givenHere?: GivenHere): Page {
  const { serverTitle, askedBy } = view;
  const again = view.reason !== 'missing' && ' again';
  return {
    status: 200,
    title: `Connect ${serverTitle}`,
    body: html`
      ${monogram(serverTitle)}
      <h1>Connect ${serverTitle}${again}</h1>
      <p class="lead">${view.message}</p>
      <dl>
        ${detail('Asked by', html`<strong>${askedBy.join(' → ')}</strong>`)}
        ${detail('Server', html`<strong>${view.host}</strong>`)}
        ${givenHere?.permissions ?? permissions(view)} ${timeLeft(view)}
      </dl>
      ${view.warnings.map((warning) => html`<p class="warning">${warningWords[warning]}</p>`)}
      ${givenHere?.form ?? actions(view, `Connect ${serverTitle}`)} ${dismissal(view, '/auth/connect')}
    `,
    footer: signedIn(view, view.elicitationId),
  };
}

export function deniedPage(view: QuestionView): Page {
  const lead = `Access was not given at ${view.serverTitle}. You can try again, or go on without it.`;
  return retryPage(view, 200, `${view.serverTitle} is not connected`, lead);
}

/** `canRetry`: false if another attempt would fail, too. */
export function failedPage(view: QuestionView, message: string, canRetry: boolean): Page {
  return retryPage(view, 502, `${view.serverTitle} could not be connected`, message, canRetry);
}

function retryPage(view: QuestionView, status: number, title: string, lead: string, canRetry = true): Page {
  return {
    status,
    title,
    body: html`${monogram(view.serverTitle)}
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${actions(view, canRetry && 'Try again')} ${dismissal(view, '/auth/connect')}`,
  };
}

function actions(view: QuestionView, connect: string | false): Html {
  return html`<form method="post" action="${view.publicUrl}/auth/connect" class="actions">
    ${questionFields(view)} ${connect && html`<button name="action" value="connect">${connect}</button>`}
    <button name="action" value="decline" class="quiet">Not now</button>
  </form>`;
}

/** The button in the corner cancels, which, unlike “not now”, decides nothing. */
export function dismissal(view: QuestionForm, path: '/auth/connect' | '/auth/answer'): Html {
  return html`<form method="post" action="${view.publicUrl}${path}">
    ${questionFields(view)}
    <button name="action" value="cancel" class="dismiss" aria-label="Dismiss" title="Dismiss">
      ${cross}
    </button>
  </form>`;
}

/** With `insufficient_scope`, only the new permissions. */
function permissions({ serverTitle, scopes, reason }: QuestionView): Html {
  if (scopes.length === 0) return detail('Permissions', html`${serverTitle} shows them before you agree`);
  if (reason !== 'insufficient_scope') return detail('Permissions', scopeList(scopes));
  const before = html`<small>In addition to what you allowed before</small>`;
  return detail('New permissions', html`${scopeList(scopes)}${before}`);
}

type QuestionForm = SignedIn & { elicitationId: string };

/** The hidden fields of every form about a question. */
export function questionFields(view: QuestionForm): Html {
  return html`<input type="hidden" name="e" value="${view.elicitationId}" />
    <input type="hidden" name="csrf" value="${view.csrf}" />
    ${returnField(view)}`;
}

export function timeLeft({ deadline, minutesLeft }: { deadline: Date; minutesLeft: number }): Html {
  return detail(
    'Time left',
    html`${minutesInWords(minutesLeft)}<small>until ${timeOf(deadline, 'clock')}</small>`,
  );
}

function minutesInWords(minutes: number): string {
  if (minutes < 1) return 'Less than a minute';
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}

export interface QuestionView extends SignedIn {
  elicitationId: string;
  serverTitle: string;
  host: string;
  message: string;
  /** The agent, then those it delegated to. */
  askedBy: string[];
  reason: ConnectionReason;
  scopes: string[];
  warnings: UrlWarning[];
  deadline: Date;
  minutesLeft: number;
}

export function viewOf(
  { row, server }: ConnectionQuestion,
  { http, agents }: PagesParts['config'],
  session: Session,
): QuestionView {
  const { context, message } = row.request;
  const titleOf = (agent: string) => agents.get(agent)?.title ?? agent;
  return {
    elicitationId: row.id,
    serverTitle: server.title,
    host: context.host ?? server.title,
    message,
    askedBy: whoAsks(context).map(titleOf),
    reason: context.reason ?? 'missing',
    scopes: context.scopes ?? [],
    warnings: context.warnings ?? [],
    deadline: new Date(row.deadline),
    minutesLeft: Math.floor((row.deadline - Date.now()) / 60_000),
    ...signedInAs(session, http.publicUrl),
  };
}

/** The warning before an operator connects a shared account. */
export function becomesShared(serverTitle: string, tenant: string): Html {
  return html`<p class="warning">
    This account becomes everybody’s in ${tenant}: whoever talks to an agent there, ${serverTitle} is used
    with it. Connect one that is meant for all of them, not your own.
  </p>`;
}

/** For a question from before the account became shared; it can no longer be answered. */
export function sharedQuestionPage(
  view: QuestionView,
  { tenant, contact, mayChange }: { tenant: string; contact: string | undefined; mayChange: boolean },
): Page {
  const { serverTitle, publicUrl } = view;
  return {
    status: 200,
    title: `${serverTitle} is shared`,
    body: html`${monogram(serverTitle)}
      <h1>${serverTitle} is shared</h1>
      <p class="lead">
        ${serverTitle} is used with one account for everybody in ${tenant}, and only an operator connects it.
        ${mayChange ? html`<a href="${publicUrl}/connections">You may do that here.</a>` : askWhom(contact)}
      </p>
      <dl>${detail('Asked by', html`<strong>${view.askedBy.join(' → ')}</strong>`)}</dl>
      <form method="post" action="${publicUrl}/auth/connect" class="actions">
        ${questionFields(view)}
        <button name="action" value="decline" class="quiet">Not now</button>
      </form>
      ${dismissal(view, '/auth/connect')}`,
    footer: signedIn(view, view.elicitationId),
  };
}
