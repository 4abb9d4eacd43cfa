/** Lines of what there is to know about something: a term, and what it is. For use inside `<dl>`. */
import { html } from '../../html/html.ts';
import type { Html } from '../../html/html.ts';

export function detail(term: string, description: Html): Html {
  return html`<div>
    <dt>${term}</dt>
    <dd>${description}</dd>
  </div>`;
}

export function scopeList(scopes: string[]): Html {
  return html`<ul class="scopes">
    ${scopes.map((scope) => html`<li>${scope}</li>`)}
  </ul>`;
}
