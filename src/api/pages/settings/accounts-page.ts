/** `/connections`: the accounts and Slack links of a person. Pure: data in, `Page` out; no JavaScript. */
import { permissionsAmong } from '../../../service/accounts.ts';
import { isKey } from '../../../service/connections.ts';
import type { OwnConnection } from '../../../service/connections.ts';
import type { ShownLink } from '../../../service/slack/links.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { detail, scopeList, timeOf } from '../elements.ts';
import type { Page } from '../layout.ts';
import { keepingReturn } from '../return-url.ts';
import { postForm } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import type { PageWords } from '../words.ts';
import { settingsPage } from './settings-page.ts';
import type { SettingsView } from './settings-page.ts';
import { connectForm, connectLink, keyLink, markOf, queryOf } from './connection-pages.ts';

interface AccountsView extends SettingsView {
  connections: OwnConnection[];
  /** Slack users who act as the person. */
  slackLinks: ShownLink[];
  /** The server whose account has just been connected. */
  justConnected: string | undefined;
}

export function accountsPage(view: AccountsView): Page {
  const { words, connections, slackLinks } = view;
  const { nothing, lead } = words.settings;
  const isEmpty = connections.length === 0 && slackLinks.length === 0;
  return settingsPage(view, 'accounts', {
    heading: words.yourConnections,
    lead: isEmpty ? nothing : lead,
    body: html`${connectedNotice(view)}
    ${
      connections.length > 0 &&
      html`<ul class="connections">
        ${connections.map((connection) => connectionItem(view, connection))}
      </ul>`
    }
    ${slackLinks.length > 0 && slackList(view, slackLinks)}`,
  });
}

/** The query parameter is untrusted, so check the connection. */
function connectedNotice({ words, connections, justConnected }: AccountsView): Html | false {
  const one = connections.find(
    ({ server, isInUse, mayChange }) => server === justConnected && isInUse && mayChange,
  );
  if (one?.state.status !== 'active') return false;
  const { serverTitle, state } = one;
  const { account } = state.row;
  const { connected, connectedAs } = words.settings;
  return html`<p class="news" role="status">
    ${account === null ? connected(serverTitle) : connectedAs(serverTitle, account)}
  </p>`;
}

function connectionItem(view: SignedIn, connection: OwnConnection): Html {
  const { serverTitle, host, connectedBy, state } = connection;
  const place = [host, connectedBy === 'key' && view.words.settings.apiKey].filter(Boolean).join(' · ');
  return html`<li>
    <div class="head">
      ${markOf(connection)}
      <div>
        <h2>${serverTitle}</h2>
        ${place !== '' && html`<p class="host">${place}</p>`}
      </div>
      ${badge(view, connection)}
    </div>
    ${remark(view, connection)} ${state.status !== 'missing' && details(view, state.row)}
    ${actions(view, connection)}
  </li>`;
}

function badge({ words: { settings } }: SignedIn, { isInUse, state }: OwnConnection): Html {
  if (!isInUse) return html`<span class="badge">${settings.notInUse}</span>`;
  switch (state.status) {
    case 'active':
      return html`<span class="badge good">${settings.isConnected}</span>`;
    case 'broken':
      return html`<span class="badge warn">${settings.notWorking}</span>`;
    case 'missing':
      return html`<span class="badge">${settings.isNotConnected}</span>`;
    default:
      return state satisfies never;
  }
}

function remark({ words }: SignedIn, connection: OwnConnection): Html {
  const { scope, isInUse, mayChange, contact, state } = connection;
  const { sharedByYou, sharedByOperators } = words.settings;
  const shared = mayChange ? sharedByYou : `${sharedByOperators} ${words.askWhom(contact)}`;
  return html`${scope === 'project' && html`<p class="remark">${shared}</p>`}
  ${
    state.status === 'broken' &&
    html`<p class="remark ${isInUse && 'warn'}">${brokenWords(words, connection, state.reason)}</p>`
  }`;
}

type BrokenReason = Extract<OwnConnection['state'], { status: 'broken' }>['reason'];

function brokenWords(
  { settings: { broken } }: PageWords,
  { serverTitle, isInUse, connectedBy, state }: OwnConnection,
  reason: BrokenReason,
): string {
  const hasKey = isKey(state);
  const movedWords = isInUse ? broken.server_changed : broken.unused;
  const all: Record<BrokenReason, (server: string) => string> = {
    ...broken,
    rejected: hasKey ? broken.rejectedKey : broken.rejected,
    server_changed: connectedBy === 'key' && !hasKey ? broken.usedWithKey : movedWords,
    unreadable: hasKey ? broken.unreadableKey : broken.unreadable,
  };
  return all[reason](serverTitle);
}

function details(
  { words }: SignedIn,
  { account, createdAt, scopes }: { account: string | null; createdAt: number; scopes: string[] },
) {
  const { connectedAsLabel, since } = words.settings;
  const shown = permissionsAmong(scopes);
  return html`<dl>
    ${account !== null && detail(connectedAsLabel, html`<strong>${account}</strong>`)}
    ${detail(since, timeOf(createdAt, 'day', words))}
    ${shown.length > 0 && detail(words.permissions, scopeList(shown))}
  </dl>`;
}

function actions(view: SignedIn, own: OwnConnection): Html | false {
  const { serverTitle, mayChange, isInUse, connectedBy, state } = own;
  if (!mayChange) return false;
  const { key, settings } = view.words;
  const { status } = state;
  const again = connectedBy === 'key' && isKey(state) ? key.replace : settings.reconnect;
  const verb = status === 'missing' ? settings.connect : again;
  const confirmUrl = keepingReturn(`${view.publicUrl}/connections/disconnect?${queryOf(own)}`, view);
  const of = html`<span class="unseen"> ${serverTitle}</span>`;
  return html`<div class="choices">
    ${isInUse && connectControl(view, own, html`${verb}${of}`, status === 'active')}
    ${status !== 'missing' && html`<a class="button quiet" href="${confirmUrl}">${settings.disconnect}${of}</a>`}
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

function slackList(view: SignedIn, links: ShownLink[]): Html {
  const { slack, slackLead } = view.words.settings;
  return html`<section class="approvals" id="slack">
    <h2>${slack}</h2>
    <p class="remark">${slackLead}</p>
    <ul>
      ${links.map((link) => slackItem(view, link))}
    </ul>
  </section>`;
}

function slackItem(view: SignedIn, { team, slackUser, teamName, linkedAt }: ShownLink): Html {
  const { disconnect, slackUserSince, workspaceInSlack } = view.words.settings;
  return html`<li>
    <div>
      <h3>${teamName}</h3>
      <p class="host">${slackUserSince(slackUser, timeOf(linkedAt, 'day', view.words))}</p>
    </div>
    ${postForm(
      view,
      '/connections/slack',
      { team, slackUser },
      html`<button class="quiet">
        ${disconnect}<span class="unseen"> ${workspaceInSlack(teamName)}</span>
      </button>`,
    )}
  </li>`;
}
