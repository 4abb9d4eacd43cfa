/** Pages and forms about one connection, reached from the settings page. Pure: data in, `Page` out. */
import { isKey } from '../../../service/connections.ts';
import type { OwnConnection } from '../../../service/connections.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { exclamation, serverMark, tick } from '../elements.ts';
import { keepingReturn, settingsUrl } from '../return-url.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import type { PageWords } from '../words.ts';

export function confirmPage(view: SignedIn, own: OwnConnection): Page {
  const { serverTitle, isInUse, state, scope } = own;
  const { disconnectWhich, disconnect, willNotUse, sharedAfterwards, ownAfterwards, keep } =
    view.words.connection;
  const isShared = scope === 'project';
  const account = state.status === 'missing' ? null : state.row.account;
  return {
    status: 200,
    title: disconnectWhich(serverTitle),
    body: html`${markOf(own)}
      <h1>${disconnectWhich(serverTitle)}</h1>
      <p class="lead">
        ${willNotUse(account, { isKey: isKey(state), isShared })}
        ${isInUse && (isShared ? sharedAfterwards : ownAfterwards)}
      </p>
      ${postForm(
        view,
        '/connections',
        fieldsOf(own),
        html`<button name="action" value="disconnect">${disconnect(serverTitle)}</button>
          <a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">${keep}</a>`,
        html`class="actions"`,
      )}`,
    footer: signedIn(view, null),
  };
}

export function disconnectedPage(
  view: SignedIn,
  serverTitle: string,
  ended: { wasThere: boolean; wasKey: boolean; revokedAtProvider: boolean | null },
): Page {
  const { words } = view;
  const heading = words.connection.disconnected(serverTitle);
  return {
    status: 200,
    title: heading,
    body: html`${ended.revokedAtProvider === false ? exclamation : tick}
      <h1>${heading}</h1>
      <p class="lead">
        ${ended.wasThere ? afterwards(words, serverTitle, ended) : words.connection.wasBefore}
      </p>
      <div class="actions">
        <a class="button" href="${settingsUrl(view.publicUrl, view)}">${words.yourConnections}</a>
      </div>`,
    wayBack: 'button quiet',
  };
}

function afterwards(
  { connection: words }: PageWords,
  serverTitle: string,
  { wasKey, revokedAtProvider }: { wasKey: boolean; revokedAtProvider: boolean | null },
): string {
  if (wasKey) return words.keyForgotten(serverTitle);
  if (revokedAtProvider === null) return words.cannotEndThere(serverTitle);
  return (revokedAtProvider ? words.endedThere : words.notEndedThere)(serverTitle);
}

export function notConnectedPage(
  view: SignedIn,
  own: Pick<OwnConnection, 'server' | 'serverTitle' | 'scope' | 'colour' | 'picture'>,
  why: { kind: 'denied' } | { kind: 'failed'; lead: Html | string; canRetry: boolean },
): Page {
  const { serverTitle } = own;
  const { words } = view;
  const { wasNotConnected, notGiven } = words.connection;
  const isDenied = why.kind === 'denied';
  const heading = (isDenied ? wasNotConnected : words.account.failed)(serverTitle);
  const lead = isDenied ? notGiven(serverTitle) : why.lead;
  return {
    status: isDenied ? 200 : 502,
    title: heading,
    body: html`${markOf(own)}
      <h1>${heading}</h1>
      <p class="lead">${lead}</p>
      <div class="actions">
        ${(isDenied || why.canRetry) && connectForm(view, own, html`${words.tryAgain}`, false)}
        <a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">${words.yourConnections}</a>
      </div>`,
    footer: signedIn(view, null),
  };
}

type Marked = Pick<OwnConnection, 'server' | 'serverTitle' | 'colour' | 'picture'>;

export function markOf({ server, serverTitle, ...look }: Marked): Html {
  return serverMark({ name: server, title: serverTitle, ...look });
}

type Which = Pick<OwnConnection, 'server' | 'scope'>;

export function queryOf(own: Which): string {
  return new URLSearchParams(fieldsOf(own)).toString();
}

export function connectForm(view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  const button = html`<button name="action" value="connect" ${isQuiet && html`class="quiet"`}>
    ${words}
  </button>`;
  return postForm(view, '/connections', fieldsOf(own), button);
}

export function keyLink(view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  return linkTo('key', view, own, words, isQuiet);
}

export function connectLink(view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  return linkTo('connect', view, own, words, isQuiet);
}

function linkTo(page: 'key' | 'connect', view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  const address = `${view.publicUrl}/connections/${page}?${queryOf(own)}`;
  const look = isQuiet ? 'button quiet' : 'button';
  return html`<a class="${look}" href="${keepingReturn(address, view)}">${words}</a>`;
}

/** The hidden fields of a form about this connection. */
export function fieldsOf({ server, scope }: Which): Record<string, string> {
  return { server, ...(scope === 'project' && { scope }) };
}
