/** The pages of questions about an account. Pure: data in, `Page` out; no JavaScript needed. */
import type { ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { ConnectionQuestion } from '../../../service/accounts.ts';
import type { PagesParts } from '../context.ts';
import { detail, scopeList } from '../elements.ts';
import { signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import type { Page } from '../layout.ts';
import type { Session } from '../login/session.ts';
import { questionForm, questionPage, questionView } from './question-page.ts';
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
  const { words, serverTitle } = view;
  const connect = words.connect(serverTitle);
  return questionPage(view, {
    heading: view.reason === 'missing' ? connect : words.account.connectAgain(serverTitle),
    details: html`${detail(words.server, html`<strong>${view.host}</strong>`)}
    ${givenHere?.permissions ?? permissions(view)}`,
    form: questionForm(view, {
      yes: { action: 'connect', label: connect },
      ...(givenHere && { fields: givenHere.fields }),
    }),
  });
}

export function deniedPage(view: AccountView): Page {
  const { notConnected, notGiven } = view.words.account;
  return retryPage(view, 200, notConnected(view.serverTitle), notGiven(view.serverTitle));
}

/** `canRetry`: false if another attempt would fail, too. */
export function failedPage(view: AccountView, lead: Html | string, canRetry: boolean): Page {
  return retryPage(view, 502, view.words.account.failed(view.serverTitle), lead, canRetry);
}

function retryPage(
  view: AccountView,
  status: number,
  title: string,
  lead: Html | string,
  canRetry = true,
): Page {
  return {
    status,
    title,
    body: html`${view.mark}
      <h1>${title}</h1>
      <p class="lead">${lead}</p>
      ${questionForm(view, { yes: canRetry ? { action: 'connect', label: view.words.tryAgain } : null })}`,
  };
}

/** With `insufficient_scope`, only the new permissions. */
function permissions({ words, serverTitle, scopes, reason }: AccountView): Html {
  if (scopes.length === 0)
    return detail(words.permissions, html`${words.serverShowsPermissions(serverTitle)}`);
  if (reason !== 'insufficient_scope') return detail(words.permissions, scopeList(scopes));
  const before = html`<small>${words.account.inAddition}</small>`;
  return detail(words.newPermissions, html`${scopeList(scopes)}${before}`);
}

/** The warning before an operator connects a shared account. */
export function becomesShared({ words, tenant }: SignedIn, serverTitle: string): Html {
  return html`<p class="warning">${words.account.becomesShared(serverTitle, tenant)}</p>`;
}

/** For a question from before the account became shared; it can no longer be answered. */
export function sharedQuestionPage(view: AccountView, contact: string | undefined, mayChange: boolean): Page {
  const { words, serverTitle, publicUrl, tenant } = view;
  const { isShared, onlyAnOperator, youMay } = words.account;
  return {
    status: 200,
    title: isShared(serverTitle),
    body: html`${view.mark}
      <h1>${isShared(serverTitle)}</h1>
      <p class="lead">
        ${onlyAnOperator(serverTitle, tenant)}
        ${mayChange ? html`<a href="${publicUrl}/connections">${youMay}</a>` : words.askWhom(contact)}
      </p>
      <dl>${detail(words.askedByLabel, html`<strong>${view.askedBy.join(' → ')}</strong>`)}</dl>
      ${questionForm(view, { yes: null })}`,
    footer: signedIn(view, view.elicitationId),
  };
}
