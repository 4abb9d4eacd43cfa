/** What can be done to a connection, as forms. */
import { html } from './html.ts';
import type { Html } from './html.ts';
import { keepingReturn, returnField } from './return-url.ts';
import type { SignedIn } from './signed-in.ts';

export function connectForm(view: SignedIn, server: string, words: Html, isQuiet: boolean): Html {
  return html`<form method="post" action="${view.publicUrl}/connections">
    ${hidden(view, server)}
    <button name="action" value="connect" ${isQuiet && html`class="quiet"`}>${words}</button>
  </form>`;
}

/** A key is entered on a page of its own. */
export function keyLink(view: SignedIn, server: string, words: Html, isQuiet: boolean): Html {
  return linkTo('key', view, server, words, isQuiet);
}

/** Who connects by Nango waits on a page of its own. */
export function connectLink(view: SignedIn, server: string, words: Html, isQuiet: boolean): Html {
  return linkTo('connect', view, server, words, isQuiet);
}

function linkTo(
  page: 'key' | 'connect',
  view: SignedIn,
  server: string,
  words: Html,
  isQuiet: boolean,
): Html {
  const address = `${view.publicUrl}/connections/${page}?${new URLSearchParams({ server }).toString()}`;
  const look = isQuiet ? 'button quiet' : 'button';
  return html`<a class="${look}" href="${keepingReturn(address, view)}">${words}</a>`;
}

export function hidden(view: SignedIn, server: string): Html {
  return html`<input type="hidden" name="server" value="${server}" />
    <input type="hidden" name="csrf" value="${view.csrf}" />
    ${returnField(view)}`;
}
