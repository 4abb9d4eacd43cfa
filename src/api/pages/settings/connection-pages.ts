/** Pages and forms about one connection, reached from the settings page. Pure: data in, `Page` out. */
import { isKey } from '../../../service/connections.ts';
import type { OwnConnection } from '../../../service/connections.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { exclamation, monogram, tick } from '../elements.ts';
import { keepingReturn, settingsUrl } from '../return-url.ts';
import { postForm, signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';

export function confirmPage(view: SignedIn, own: OwnConnection): Page {
  const { serverTitle, isInUse, state, scope } = own;
  const isShared = scope === 'project';
  const account = state.status === 'missing' ? null : state.row.account;
  const noun = isKey(state) ? 'key' : 'account';
  const mine = isShared ? `everybody’s ${noun}` : isKey(state) ? 'your' : 'your account';
  const whose = account === null ? html`this ${noun}` : html`${mine} <strong>${account}</strong>`;
  const next =
    isInUse &&
    (isShared
      ? 'Whoever needs it is told whom to ask.'
      : 'The next time an agent needs it, you are asked again.');
  return {
    status: 200,
    title: `Disconnect ${serverTitle}?`,
    body: html`${monogram(serverTitle)}
      <h1>Disconnect ${serverTitle}?</h1>
      <p class="lead">
        Agents will no longer be able to use ${whose}. What is under way right now may still be finished.
        ${next}
      </p>
      ${postForm(
        view,
        '/connections',
        fieldsOf(own),
        html`<button name="action" value="disconnect">Disconnect ${serverTitle}</button>
          <a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">Keep it</a>`,
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
  const heading = `${serverTitle} is disconnected`;
  return {
    status: 200,
    title: heading,
    body: html`${ended.revokedAtProvider === false ? exclamation : tick}
      <h1>${heading}</h1>
      <p class="lead">${ended.wasThere ? afterwards(serverTitle, ended) : 'It was disconnected before.'}</p>
      <div class="actions">
        <a class="button" href="${settingsUrl(view.publicUrl, view)}">Your connections</a>
      </div>`,
    wayBack: 'button quiet',
  };
}

function afterwards(
  serverTitle: string,
  { wasKey, revokedAtProvider }: { wasKey: boolean; revokedAtProvider: boolean | null },
): string {
  if (wasKey)
    return `Your key is forgotten here. At ${serverTitle} it is still good: delete it there if nothing else needs it.`;
  const thereToo = `To be sure, remove Interlude in the settings of your account there, too.`;
  switch (revokedAtProvider) {
    case true:
      return `Its access is forgotten here and ended at ${serverTitle}.`;
    case false:
      return `Its access is forgotten here, but ${serverTitle} could not be told. ${thereToo}`;
    case null:
      return `Its access is forgotten here. ${serverTitle} has no way to be told. ${thereToo}`;
    default:
      return revokedAtProvider satisfies never;
  }
}

export function notConnectedPage(
  view: SignedIn,
  own: Pick<OwnConnection, 'server' | 'serverTitle' | 'scope'>,
  why: { kind: 'denied' } | { kind: 'failed'; message: string; canRetry: boolean },
): Page {
  const { serverTitle } = own;
  const isDenied = why.kind === 'denied';
  const heading = isDenied ? `${serverTitle} was not connected` : `${serverTitle} could not be connected`;
  const lead = isDenied ? `Access was not given at ${serverTitle}. Nothing was changed.` : why.message;
  return {
    status: isDenied ? 200 : 502,
    title: heading,
    body: html`${monogram(serverTitle)}
      <h1>${heading}</h1>
      <p class="lead">${lead}</p>
      <div class="actions">
        ${(isDenied || why.canRetry) && connectForm(view, own, html`Try again`, false)}
        <a class="button quiet" href="${settingsUrl(view.publicUrl, view)}">Your connections</a>
      </div>`,
    footer: signedIn(view, null),
  };
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
