/** The pages of questions about an account. Pure: data in, `Page` out; no JavaScript needed. */
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import { askWhom } from '@interlude-ai/core/elicitation/wording.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { ConnectionQuestion } from '../../../service/accounts.ts';
import type { PagesParts } from '../context.ts';
import { detail, monogram, scopeList } from '../elements.ts';
import { signedIn } from '../guarded-form.ts';
import type { Page } from '../layout.ts';
import type { Session } from '../login/session.ts';
import { questionForm, questionPage, questionView, words } from './question-page.ts';
import type { QuestionView } from './question-page.ts';

export interface AccountView extends QuestionView {
  serverTitle: string;
  host: string;
  reason: ConnectionReason;
  scopes: string[];
}

export function accountView(
  { row, server }: ConnectionQuestion,
  config: PagesParts['config'],
  session: Session,
): AccountView {
  const { host = server.title, reason = 'missing', scopes = [] } = row.request.context;
  const view = questionView(row, config, session);
  return { ...view, asker: server.title, serverTitle: server.title, host, reason, scopes };
}

/** For accounts that are connected on the page itself, with an API key. */
interface GivenHere {
  permissions: Html;
  fields: Html;
}

export function accountPage(view: AccountView, givenHere?: GivenHere): Page {
  const connect = words.connect(view.serverTitle);
  return questionPage(view, {
    heading: view.reason === 'missing' ? connect : `${connect} again`,
    details: html`${detail('Server', html`<strong>${view.host}</strong>`)}
    ${givenHere?.permissions ?? permissions(view)}`,
    form: questionForm(view, {
      yes: { action: 'connect', label: connect },
      ...(givenHere && { fields: givenHere.fields }),
    }),
  });
}

export function deniedPage(view: AccountView): Page {
  const lead = `Access was not given at ${view.serverTitle}. You can try again, or go on without it.`;
  return retryPage(view, 200, `${view.serverTitle} is not connected`, lead);
}

/** `canRetry`: false if another attempt would fail, too. */
export function failedPage(view: AccountView, message: string, canRetry: boolean): Page {
  return retryPage(view, 502, `${view.serverTitle} could not be connected`, message, canRetry);
}

function retryPage(view: AccountView, status: number, title: string, lead: string, canRetry = true): Page {
  return {
    status,
    title,
    body: html`${monogram(view.serverTitle)}
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${questionForm(view, { yes: canRetry ? { action: 'connect', label: words.tryAgain } : null })}`,
  };
}

/** With `insufficient_scope`, only the new permissions. */
function permissions({ serverTitle, scopes, reason }: AccountView): Html {
  if (scopes.length === 0) return detail('Permissions', html`${serverTitle} shows them before you agree`);
  if (reason !== 'insufficient_scope') return detail('Permissions', scopeList(scopes));
  const before = html`<small>In addition to what you allowed before</small>`;
  return detail('New permissions', html`${scopeList(scopes)}${before}`);
}

/** The warning before an operator connects a shared account. */
export function becomesShared(serverTitle: string, tenant: string): Html {
  return html`<p class="warning">
    This account becomes everybody’s in ${tenant}: whoever talks to an agent there, ${serverTitle} is used
    with it. Connect one that is meant for all of them, not your own.
  </p>`;
}

/** For a question from before the account became shared; it can no longer be answered. */
export function sharedQuestionPage(view: AccountView, contact: string | undefined, mayChange: boolean): Page {
  const { serverTitle, publicUrl, tenant } = view;
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
      ${questionForm(view, { yes: null })}`,
    footer: signedIn(view, view.elicitationId),
  };
}
