/** The settings page: questions, connections, approvals and Slack links of a person. Pure: data in, `Page` out; no JavaScript. */
import { permissionsAmong } from '../../../service/accounts.ts';
import { isKey } from '../../../service/connections.ts';
import type { OwnConnection } from '../../../service/connections.ts';
import type { OwnApproval } from '../../../service/approvals.ts';
import type { Question } from '../../../service/questions.ts';
import type { ShownLink } from '../../../service/slack/links.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { askWhom, inWords } from '@interlude-ai/core/elicitation/wording.ts';
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import { detail, scopeList, dash, monogram, timeOf } from '../elements.ts';
import type { Page } from '../layout.ts';
import { keepingReturn } from '../return-url.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import { connectForm, connectLink, keyLink, queryOf } from './connection-pages.ts';

interface SettingsView extends SignedIn {
  connections: OwnConnection[];
  approvals: OwnApproval[];
  /** Open questions to the person, newest first. */
  questions: Question[];
  /** Slack users who act as the person. */
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
            ${connections.map((connection) => connectionItem(view, connection))}
          </ul>
          ${approvals.length > 0 && approvalList(view, approvals)}
          ${slackLinks.length > 0 && slackList(view, slackLinks)}`,
    wayBack: 'button quiet',
    footer: signedIn(view, null),
  };
}

/** The query parameter is untrusted, so check the connection. */
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

function connectionItem(view: SignedIn, connection: OwnConnection): Html {
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

/** Connecting a shared account, or by Nango, has a page of its own. */
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

const longestMessage = 140;

function questionList(view: SignedIn, questions: Question[]): Html {
  return html`<h2>Waiting for you</h2>
    <ul class="questions">
      ${questions.map((question) => questionItem(view, question))}
    </ul>`;
}

function questionItem(view: SignedIn, { id, request, deadline }: Question): Html {
  const address = keepingReturn(answerAddress(view.publicUrl, id), view);
  return html`<li>
    <div>
      <p dir="auto">${shortened(plainLine(request.message))}</p>
      <p class="host">
        ${plainLine(askerTitle(request.context) ?? 'An agent')} waits until ${timeOf(deadline, 'clock')}
      </p>
    </div>
    <a class="button" href="${address}"
      >Answer<span class="unseen"> ${shortened(plainLine(request.message))}</span></a
    >
  </li>`;
}

function shortened(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage).trimEnd()}…`;
}

function approvalList(view: SignedIn, approvals: OwnApproval[]): Html {
  return html`<section class="approvals" id="approvals">
    <h2>Approved in advance</h2>
    <p class="remark">Agents call these tools without asking you.</p>
    <ul>
      ${approvals.map((approval) => approvalItem(view, approval))}
    </ul>
  </section>`;
}

function approvalItem(
  view: SignedIn,
  { id, serverTitle, host, tool, conversation, createdAt }: OwnApproval,
): Html {
  const name = inWords(tool) || tool;
  const where = conversation === null ? 'In all conversations' : 'In one conversation';
  return html`<li>
    <div>
      <h3>${serverTitle}: ${name}</h3>
      <p class="host">${host ?? 'Tool of this agent'} · ${where}, since ${timeOf(createdAt, 'day')}</p>
    </div>
    ${postForm(
      view,
      '/connections/approvals',
      { approval: id },
      html`<button class="quiet">
        Ask me again<span class="unseen"> before ${name} in ${serverTitle}</span>
      </button>`,
    )}
  </li>`;
}

function slackList(view: SignedIn, links: ShownLink[]): Html {
  return html`<section class="approvals" id="slack">
    <h2>In Slack</h2>
    <p class="remark">What is written there to the agent is done as you.</p>
    <ul>
      ${links.map((link) => slackItem(view, link))}
    </ul>
  </section>`;
}

function slackItem(view: SignedIn, { team, slackUser, teamName, linkedAt }: ShownLink): Html {
  return html`<li>
    <div>
      <h3>${teamName}</h3>
      <p class="host">${slackUser}, since ${timeOf(linkedAt, 'day')}</p>
    </div>
    ${postForm(
      view,
      '/connections/slack',
      { team, slackUser },
      html`<button class="quiet">Disconnect<span class="unseen"> ${teamName} in Slack</span></button>`,
    )}
  </li>`;
}
