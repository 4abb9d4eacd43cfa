/** What can be done to a connection, as forms. */
import type { OwnConnection } from '../../../service/connections.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';
import { keepingReturn, returnField } from '../return-url.ts';
import type { SignedIn } from '../signed-in.ts';

/** Of two accounts of one server, those of a user and of everybody. */
type Which = Pick<OwnConnection, 'server' | 'scope'>;

/** Which one, in an address. */
export function queryOf({ server, scope }: Which): string {
  return new URLSearchParams({ server, ...(scope === 'project' && { scope }) }).toString();
}

export function connectForm(view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  return html`<form method="post" action="${view.publicUrl}/connections">
    ${hidden(view, own)}
    <button name="action" value="connect" ${isQuiet && html`class="quiet"`}>${words}</button>
  </form>`;
}

/** A key is entered on a page of its own. */
export function keyLink(view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  return linkTo('key', view, own, words, isQuiet);
}

/** Who connects by Nango waits on a page of its own. */
export function connectLink(view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  return linkTo('connect', view, own, words, isQuiet);
}

function linkTo(page: 'key' | 'connect', view: SignedIn, own: Which, words: Html, isQuiet: boolean): Html {
  const address = `${view.publicUrl}/connections/${page}?${queryOf(own)}`;
  const look = isQuiet ? 'button quiet' : 'button';
  return html`<a class="${look}" href="${keepingReturn(address, view)}">${words}</a>`;
}

export function hidden(view: SignedIn, { server, scope }: Which): Html {
  return html`<input type="hidden" name="server" value="${server}" />
    ${scope === 'project' && html`<input type="hidden" name="scope" value="project" />`}
    <input type="hidden" name="csrf" value="${view.csrf}" />
    ${returnField(view)}`;
}
