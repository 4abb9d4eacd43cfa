/** The footer that says who is signed in, with the form to sign out. */
import { html } from '../../html/html.ts';
import type { Html } from '../../html/html.ts';
import { displayName } from './login/session.ts';
import type { Session } from './login/session.ts';
import { returnField } from './return-url.ts';

export interface SignedIn {
  signedInAs: string;
  tenant: string;
  csrf: string;
  publicUrl: string;
  returnUrl: string | null;
}

/** `elicitationId`: the question to come back to after signing in as another user; null: the settings page. */
export function signedIn(view: SignedIn, elicitationId: string | null): Html {
  const { signedInAs, csrf, publicUrl } = view;
  return html`Signed in as ${signedInAs}.
    <form method="post" action="${publicUrl}/auth/logout">
      ${elicitationId !== null && html`<input type="hidden" name="e" value="${elicitationId}" />`}
      <input type="hidden" name="csrf" value="${csrf}" />
      ${returnField(view)}
      <button>Not you?</button>
    </form>`;
}

export function signedInAs(session: Session, publicUrl: string): SignedIn {
  const { tenant, csrf, returnUrl } = session;
  return { signedInAs: displayName(session), tenant, csrf, publicUrl, returnUrl };
}
