/**
 * Pages that connect by way of Nango. Each works without its script, and contains what the script shows while the person is in the
 * other window. Pure: data in, `Page` out.
 */
import type { OwnConnection } from '../../../service/connections.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { notConnectedPage, connectForm, fieldsOf, markOf } from '../settings/connection-pages.ts';
import { detail, scopeList } from '../elements.ts';
import type { Page, PageScript } from '../layout.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import { becomesShared, deniedPage, failedPage } from '../question/account-pages.ts';
import type { AccountView } from '../question/account-pages.ts';
import { settingsUrl } from '../return-url.ts';
import type { Goal } from './goal.ts';

/** `page`: the question's page. */
export function questionWithNango(page: Page, view: AccountView, script: PageScript | null): Page {
  if (!script) return page;
  const form: PostForm = (content, attributes) =>
    postForm(view, '/auth/answer', { e: view.elicitationId }, content, attributes);
  return withSteps(page, script, view, {
    goal: { e: view.elicitationId },
    waiting: waitingFor(
      view,
      form,
      form(html`<button name="action" value="decline" class="quiet">${view.words.notNow}</button>`),
    ),
    denied: deniedPage(view),
    // The attempt may have got further than Nango reported.
    failed: failedPage(view, view.words.otherWindow.failed, true),
  });
}

/** Reached from the settings page. `scopes`: those that will be requested, if known. */
export function connectPage(
  view: SignedIn,
  own: OwnConnection,
  scopes: string[],
  script: PageScript | null,
): Page {
  const { words } = view;
  const { serverTitle, host, state, scope } = own;
  const isAgain = state.status !== 'missing';
  const account = isAgain ? state.row.account : null;
  const page: Page = {
    status: 200,
    title: words.connect(serverTitle),
    body: html`${markOf(own)}
      <h1>${(isAgain ? words.account.connectAgain : words.connect)(serverTitle)}</h1>
      ${
        scope === 'project'
          ? becomesShared(view, serverTitle)
          : html`<p class="lead">${words.connection.mayUse}</p>`
      }
      <dl>
        ${detail(words.server, html`<strong>${host ?? serverTitle}</strong>`)}
        ${account !== null && detail(words.connection.untilNow, words.connection.connectedAs(account))}
        ${detail(
          words.permissions,
          scopes.length > 0 ? scopeList(scopes) : html`${words.serverShowsPermissions(serverTitle)}`,
        )}
      </dl>
      <div class="actions">
        ${connectForm(view, own, html`${words.connect(serverTitle)}`, false)}
        <a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">${words.notNow}</a>
      </div>`,
    footer: signedIn(view, null),
  };
  return script ? connectWithNango(page, view, own, script) : page;
}

/** `page`: a page of the settings. */
export function connectWithNango(
  page: Page,
  view: SignedIn,
  own: OwnConnection,
  script: PageScript | null,
): Page {
  if (!script) return page;
  const { server, scope, serverTitle, state } = own;
  return withSteps(page, script, view, {
    goal: { server, scope, seenVersion: state.status === 'missing' ? 0 : state.row.version },
    waiting: waitingFor(
      { words: view.words, serverTitle, mark: markOf(own) },
      (content, attributes) => postForm(view, '/connections', fieldsOf(own), content, attributes),
      html`<a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">${view.words.notNow}</a>`,
    ),
    denied: notConnectedPage(view, own, { kind: 'denied' }),
    failed: notConnectedPage(view, own, {
      kind: 'failed',
      lead: view.words.otherWindow.failed,
      canRetry: true,
    }),
  });
}

interface Steps {
  goal: Goal;
  waiting: Html;
  denied: Page;
  failed: Page;
}

function withSteps(
  page: Page,
  script: PageScript,
  view: SignedIn,
  { goal, waiting, denied, failed }: Steps,
): Page {
  const { publicUrl, returnUrl, csrf } = view;
  const posted = JSON.stringify({ ...goal, ...(returnUrl !== null && { returnUrl }) });
  return {
    ...page,
    script,
    body: html`<div data-nango="${publicUrl}/auth/connect/nango" data-goal="${posted}" data-csrf="${csrf}">
      <section data-step="asking">${page.body}</section>
      <section data-step="waiting" hidden>${waiting}</section>
      <section data-step="denied" hidden>${denied.body}</section>
      <section data-step="failed" hidden>${failed.body}</section>
    </div>`,
  };
}

type PostForm = (content: Html, attributes?: Html) => Html;

type Waited = Pick<AccountView, 'words' | 'serverTitle' | 'mark'>;

function waitingFor({ words, serverTitle, mark }: Waited, form: PostForm, notNow: Html): Html {
  const { heading, lead, noWindow, here } = words.otherWindow;
  return html`${mark}
    <h1>${heading}</h1>
    <p class="lead">${lead(serverTitle)}</p>
    <div class="actions">
      ${form(html`<button name="action" value="connect" class="quiet">${words.tryAgain}</button>`)} ${notNow}
    </div>
    ${form(
      html`${noWindow} <button name="action" value="connect" data-way="page">${here}</button>`,
      html`class="aside"`,
    )}`;
}
