/** Pages with a field for an API key: the question, or a page of the settings. A key is never sent back. Pure: data in, `Page` out. */
import type { KeyProblem } from '@interlude-ai/core/elicitation/wording.ts';
import { isKey } from '../../service/connections.ts';
import type { OwnConnection } from '../../service/connections.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { detail, scopeList } from './elements.ts';
import type { Page } from './layout.ts';
import { postForm, signedIn } from './guarded-form.ts';
import type { SignedIn } from './guarded-form.ts';
import { accountPage, becomesShared } from './question/account-pages.ts';
import type { AccountView } from './question/account-pages.ts';
import { settingsUrl } from './return-url.ts';
import { fieldsOf, markOf } from './settings/connection-pages.ts';
import type { PageWords } from './words.ts';

type Hint = KeyField['hint'];

export function keyQuestionPage(view: AccountView, hint: Hint, problem?: KeyProblem): Page {
  const { scopes, words } = view;
  const needed =
    scopes.length === 0
      ? html`${words.key.thoseOfYourKey}`
      : html`${scopeList(scopes)}<small>${words.key.mustHaveThem}</small>`;
  const page = accountPage(view, {
    permissions: detail(words.permissions, needed),
    fields: keyField({ ...view, hint, problem }),
  });
  return withProblem(view, page, problem);
}

/** Reached from the settings page. */
export function keyPage(view: SignedIn, own: OwnConnection, hint: Hint, problem?: KeyProblem): Page {
  const { serverTitle, scope, state } = own;
  const host = own.host ?? serverTitle;
  const isNew = !isKey(state);
  const isShared = scope === 'project';
  const { words } = view;
  const { usesYours, usesShared, replaceYours, replaceShared, takesThePlace } = words.key;
  const connectServer = words.connect(serverTitle);
  const heading = isNew ? connectServer : (isShared ? replaceShared : replaceYours)(serverTitle);
  const lead = isNew ? (isShared ? usesShared : usesYours)(serverTitle) : takesThePlace;
  const before = isNew || state.status === 'missing' ? null : state.row.account;
  const page: Page = {
    status: 200,
    title: heading,
    body: html`${markOf(own)}
      <h1>${heading}</h1>
      <p class="lead">${lead}</p>
      <dl>
        ${detail(words.server, html`<strong>${host}</strong>`)}
        ${before !== null && detail(words.key.now, html`<strong>${before}</strong>`)}
      </dl>
      ${isShared && becomesShared(view, serverTitle)}
      ${postForm(
        view,
        '/connections',
        fieldsOf(own),
        html`${keyField({ words, serverTitle, host, hint, problem })}
          <div class="actions">
            <button name="action" value="connect">${isNew ? connectServer : words.key.replace}</button>
            <a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">${words.yourConnections}</a>
          </div>`,
      )}`,
    footer: signedIn(view, null),
  };
  return withProblem(view, page, problem);
}

/** Screen readers read the title first. */
function withProblem({ words }: SignedIn, page: Page, problem: KeyProblem | undefined): Page {
  if (!problem) return page;
  const status = problem.code === 'not-tried' ? 502 : 422;
  return { ...page, status, title: words.key.notConnectedYet(page.title) };
}

interface KeyField {
  words: PageWords;
  serverTitle: string;
  host: string;
  /** From the operator: where people find their key. */
  hint: string | undefined;
  /** Why the key that was entered is not kept. */
  problem?: KeyProblem | undefined;
}

/** More than a key may have, because browsers silently cut off longer input. */
const maxTyped = 4_500;

function keyField({ words, serverTitle, host, hint, problem }: KeyField): Html {
  const described = [problem && 'key-problem', hint && 'key-hint', 'key-use'].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for="key">${words.key.label(serverTitle)}</label>
    ${problem && html`<p class="problem" id="key-problem">${words.keyProblem(serverTitle, problem)}</p>`}
    <input
      id="key"
      name="key"
      type="password"
      required
      maxlength="${maxTyped}"
      autocomplete="off"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      aria-describedby="${described}"
      ${problem && html`aria-invalid="true" autofocus`}
    />
    ${hint !== undefined && html`<p class="help" id="key-hint">${hint}</p>`}
    <p class="help" id="key-use">${words.key.use(host)}</p>
  </div>`;
}
