/** Pages with a field for an API key: the question, or a page of the settings. A key is never sent back. Pure: data in, `Page` out. */
import { isKey } from '../../service/connections.ts';
import type { OwnConnection } from '../../service/connections.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { detail, scopeList, monogram } from './elements.ts';
import type { Page } from './layout.ts';
import { postForm, signedIn } from './guarded-form.ts';
import type { SignedIn } from './guarded-form.ts';
import { accountPage, becomesShared } from './question/account-pages.ts';
import type { AccountView } from './question/account-pages.ts';
import { settingsUrl } from './return-url.ts';
import { fieldsOf } from './settings/connection-pages.ts';

type Hint = KeyField['hint'];

/** Why a key was not accepted. */
export interface KeyProblem {
  status: number;
  message: string;
}

const statuses = { malformed: 422, refused: 422, 'not-tried': 502 };

export function keyProblemOf({
  kind,
  message,
}: {
  kind: keyof typeof statuses;
  message: string;
}): KeyProblem {
  return { status: statuses[kind], message };
}

export function keyQuestionPage(view: AccountView, hint: Hint, problem?: KeyProblem): Page {
  const { scopes } = view;
  const needed =
    scopes.length === 0
      ? html`Those that your key has`
      : html`${scopeList(scopes)}<small>Your key has to have them</small>`;
  const page = accountPage(view, {
    permissions: detail('Permissions', needed),
    fields: keyField({ ...view, hint, problem: problem?.message }),
  });
  return withProblem(page, problem);
}

/** Reached from the settings page. */
export function keyPage(view: SignedIn, own: OwnConnection, hint: Hint, problem?: KeyProblem): Page {
  const { serverTitle, scope, state } = own;
  const host = own.host ?? serverTitle;
  const isNew = !isKey(state);
  const isShared = scope === 'project';
  const heading = isNew
    ? `Connect ${serverTitle}`
    : `Replace ${isShared ? 'everybody’s' : 'your'} key for ${serverTitle}`;
  const lead = isNew
    ? `Agents use ${serverTitle} with an API key${isShared ? '' : ' of yours'}.`
    : 'The new key takes the place of the one before, which is forgotten here.';
  const before = isNew || state.status === 'missing' ? null : state.row.account;
  const page: Page = {
    status: 200,
    title: heading,
    body: html`${monogram(serverTitle)}
      <h1>${heading}</h1>
      <p class="lead">${lead}</p>
      <dl>
        ${detail('Server', html`<strong>${host}</strong>`)}
        ${before !== null && detail('Now', html`<strong>${before}</strong>`)}
      </dl>
      ${isShared && becomesShared(serverTitle, view.tenant)}
      ${postForm(
        view,
        '/connections',
        fieldsOf(own),
        html`${keyField({ serverTitle, host, hint, problem: problem?.message })}
          <div class="actions">
            <button name="action" value="connect">${isNew ? `Connect ${serverTitle}` : 'Replace key'}</button>
            <a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">Your connections</a>
          </div>`,
      )}`,
    footer: signedIn(view, null),
  };
  return withProblem(page, problem);
}

/** Screen readers read the title first. */
function withProblem(page: Page, problem: KeyProblem | undefined): Page {
  return problem ? { ...page, status: problem.status, title: `Not connected yet: ${page.title}` } : page;
}

interface KeyField {
  serverTitle: string;
  host: string;
  /** From the operator: where people find their key. */
  hint: string | undefined;
  /** Why the key that was entered is not kept. */
  problem?: string | undefined;
}

/** More than a key may have, because browsers silently cut off longer input. */
const maxTyped = 4_500;

function keyField({ serverTitle, host, hint, problem }: KeyField): Html {
  const described = [problem && 'key-problem', hint && 'key-hint', 'key-use'].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for="key">Your API key for ${serverTitle}</label>
    ${problem !== undefined && html`<p class="problem" id="key-problem">${problem}</p>`}
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
      ${problem !== undefined && html`aria-invalid="true" autofocus`}
    />
    ${hint !== undefined && html`<p class="help" id="key-hint">${hint}</p>`}
    <p class="help" id="key-use">It is kept encrypted, and sent to ${host} only.</p>
  </div>`;
}
