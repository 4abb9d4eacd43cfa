/** The one field an API key is entered in. What was entered never comes back to the page, also not when it is wrong. */
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';

export interface KeyField {
  serverTitle: string;
  host: string;
  /** The operator's words: where people find their key. */
  hint: string | undefined;
  /** Why the key that was entered is not kept. */
  problem?: string | undefined;
}

/** More than a key may have: the browser would cut off the rest without a word. */
const maxTyped = 4_500;

export function keyField({ serverTitle, host, hint, problem }: KeyField): Html {
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
