/** The settings page: what somebody has connected. Pure: data in, `Page` out; it needs no JavaScript. */
import { permissionsAmong } from '../../../service/accounts.ts';
import { isKey } from '../../../service/connections.ts';
import type { OwnApproval } from '../../../service/approvals.ts';
import type { Question } from '../../../service/questions.ts';
import type { ShownLink } from '../../../service/slack/links.ts';
import type { OwnConnection } from '../../../service/connections.ts';
import { approvalList } from './approval-list.ts';
import { detail, scopeList } from '../details.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import type { Page } from '../layout.ts';
import { dash, monogram } from '../marks.ts';
import { keepingReturn } from '../return-url.ts';
import { askWhom } from '../../../elicitation/shared-account.ts';
import { timeOf } from '../times.ts';
import { questionList } from './question-list.ts';
import { connectForm, connectLink, keyLink, queryOf } from './forms.ts';
import { slackList } from './slack-list.ts';
import { signedIn } from '../signed-in.ts';
import type { SignedIn } from '../signed-in.ts';

export interface SettingsView extends SignedIn {
  connections: OwnConnection[];
  approvals: OwnApproval[];
  /** Those that wait for the person, newest first. */
  questions: Question[];
  /** Who acts as the person in Slack. */
  slackLinks: ShownLink[];
  /** The server whose account has just been connected. */
  justConnected: string | undefined;
}

export function settingsPage(view: SettingsView): Page {
  const { connections, approvals, questions, slackLinks } = view;
  const isEmpty = [connections, approvals, questions, slackLinks].every(({ length }) => length === 0);
  return {
    status: 200,
    title: 'Your connections',
    isWide: !isEmpty,
    body: isEmpty
      ? html`${dash}
          <h1>Your connections</h1>
          <p class="lead">Nothing here needs an account of yours.</p>`
      : html`<h1>Your connections</h1>
          <p class="lead">Accounts that agents may use, and as whom.</p>
          ${connectedNotice(view)} ${questions.length > 0 && questionList(view, questions)}
          <ul class="connections">
            ${connections.map((connection) => item(view, connection))}
          </ul>
          ${approvals.length > 0 && approvalList(view, approvals)}
          ${slackLinks.length > 0 && slackList(view, slackLinks)}`,
    wayBack: 'button quiet',
    footer: signedIn(view, null),
  };
}

/** Said only of what is so: the address of the page is nobody's word. */
function connectedNotice({ connections, justConnected }: SettingsView): Html | false {
  const one = connections.find(
    ({ server, isInUse, mayChange }) => server === justConnected && isInUse && mayChange,
  );
  if (one?.state.status !== 'active') return false;
  const { account } = one.state.row;
  const who = account === null ? '' : html` as <strong>${account}</strong>`;
  return html`<p class="news" role="status">
    ${one.serverTitle} is connected${who}. Conversations that waited for it go on.
  </p>`;
}

function item(view: SignedIn, connection: OwnConnection): Html {
  const { serverTitle, host, connectedBy, state } = connection;
  const place = [host, connectedBy === 'key' && 'API key'].filter(Boolean).join(' · ');
  return html`<li>
    <div class="head">
      ${monogram(serverTitle)}
      <div>
        <h2>${serverTitle}</h2>
        ${place !== '' && html`<p class="host">${place}</p>`}
      </div>
      ${badge(connection)}
    </div>
    ${remark(connection)} ${state.status !== 'missing' && details(state.row)} ${actions(view, connection)}
  </li>`;
}

function badge({ isInUse, state }: OwnConnection): Html {
  if (!isInUse) return html`<span class="badge">Not in use</span>`;
  switch (state.status) {
    case 'active':
      return html`<span class="badge good">Connected</span>`;
    case 'broken':
      return html`<span class="badge warn">Not working</span>`;
    case 'missing':
      return html`<span class="badge">Not connected</span>`;
    default:
      return state satisfies never;
  }
}

function remark(connection: OwnConnection): Html {
  const { scope, isInUse, mayChange, contact, state } = connection;
  const look = mayChange ? 'You look after it.' : `Operators look after it. ${askWhom(contact)}`;
  const shared =
    scope === 'project' &&
    html`<p class="remark">One account for everybody in your organisation. ${look}</p>`;
  const words = state.status === 'broken' && brokenWords(connection, state.reason);
  const wrong = words !== false && html`<p class="remark ${isInUse && 'warn'}">${words}</p>`;
  return html`${shared}${wrong}`;
}

type BrokenReason = Extract<OwnConnection['state'], { status: 'broken' }>['reason'];

function brokenWords(
  { serverTitle, isInUse, connectedBy, state }: OwnConnection,
  reason: BrokenReason,
): string {
  switch (reason) {
    case 'rejected':
      return `${serverTitle} does not accept this ${isKey(state) ? 'key' : 'access'} any more.`;
    case 'insufficient_scope':
      return `It lacks a permission that ${serverTitle} asks for.`;
    case 'revoked':
      return `Access was withdrawn at ${serverTitle}, or has run out.`;
    case 'server_changed':
      if (connectedBy === 'key' && !isKey(state)) return `${serverTitle} is used with an API key now.`;
      return isInUse
        ? `${serverTitle} has moved to another address since you connected it.`
        : 'No agent uses this server any more. Disconnect it, and its access is forgotten.';
    case 'unreadable':
      return isKey(state)
        ? 'What it is encrypted with is missing, so it cannot be used.'
        : 'It is kept with a key that is missing, so it cannot be used.';
    case 'client_refused':
      return `The sign-in of ${serverTitle} does not accept this service at the moment. Its operator has to correct that; you need not connect again.`;
    default:
      return reason satisfies never;
  }
}

function details({
  account,
  createdAt,
  scopes,
}: {
  account: string | null;
  createdAt: number;
  scopes: string[];
}) {
  const shown = permissionsAmong(scopes);
  return html`<dl>
    ${account !== null ? detail('Connected as', html`<strong>${account}</strong>`) : ''}
    ${detail('Since', timeOf(createdAt, 'day'))}
    ${shown.length > 0 ? detail('Permissions', scopeList(shown)) : ''}
  </dl>`;
}

function actions(view: SignedIn, own: OwnConnection): Html | false {
  const { serverTitle, mayChange, isInUse, connectedBy, state } = own;
  if (!mayChange) return false;
  const { status } = state;
  const again = connectedBy === 'key' && isKey(state) ? 'Replace key' : 'Reconnect';
  const verb = status === 'missing' ? 'Connect' : again;
  const confirmUrl = keepingReturn(`${view.publicUrl}/connections/disconnect?${queryOf(own)}`, view);
  const of = html`<span class="unseen"> ${serverTitle}</span>`;
  return html`<div class="choices">
    ${isInUse && connectControl(view, own, html`${verb}${of}`, status === 'active')}
    ${status !== 'missing' && html`<a class="button quiet" href="${confirmUrl}">Disconnect${of}</a>`}
  </div>`;
}

/** Whoever gives an account to everybody is told so on a page of its own. */
function connectControl(view: SignedIn, own: OwnConnection, words: Html, isQuiet: boolean): Html | false {
  const { connectedBy, scope } = own;
  switch (connectedBy) {
    case 'key':
      return keyLink(view, own, words, isQuiet);
    case 'window':
      return connectLink(view, own, words, isQuiet);
    case 'sign-in':
      return (scope === 'project' ? connectLink : connectForm)(view, own, words, isQuiet);
    case null:
      return false;
    default:
      return connectedBy satisfies never;
  }
}
