/** What can be done to a connection, as forms. */
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { SignedIn } from './signed-in.ts';

export function connectForm(view: SignedIn, server: string, words: Html, isQuiet: boolean): Html {
  return html`<form method="post" action="${view.publicUrl}/connections">
    ${hidden(view, server)}
    <button name="action" value="connect" ${isQuiet && html`class="quiet"`}>${words}</button>
  </form>`;
}

export function hidden({ csrf }: SignedIn, server: string): Html {
  return html`<input type="hidden" name="server" value="${server}" />
    <input type="hidden" name="csrf" value="${csrf}" />`;
}
