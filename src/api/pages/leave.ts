/** The page on the way to a server's provider: it names the provider, and takes the person there. */
import { isSafeToOpen } from '../../elicitation/url-safety.ts';
import { CredentialStoreError } from '../../service/accounts.ts';
import type { Accounts, BeginInput } from '../../service/accounts.ts';
import type { NangoAttempts, NangoBegin } from '../../service/nango-attempts.ts';
import { html } from '../../html/html.ts';
import type { Html } from '../../html/html.ts';
import type { Page } from './layout.ts';
import { monogram } from './marks.ts';

/** Throws `CredentialStoreError` with words for the person. */
export async function leaveTo(
  accounts: Pick<Accounts, 'beginAuthorization'>,
  input: BeginInput,
): Promise<Page> {
  const { url } = await accounts.beginAuthorization(input);
  const address = safeAddress(url);
  const explanation = html`You sign in at <strong>${address.host}</strong> and come back here.`;
  return leavingPage(input.server.title, address, explanation);
}

/** The same by way of Nango, which does not redirect back. */
export async function leaveByNango(nango: Pick<NangoAttempts, 'begin'>, input: NangoBegin): Promise<Page> {
  const { pageUrl } = await nango.begin(input);
  const address = safeAddress(pageUrl);
  const goesOn =
    input.elicitationId === null ? 'open your connections again' : 'your conversation goes on by itself';
  const explanation = html`You go there by way of <strong>${address.host}</strong>. When its page says that
    you are done, close it: ${goesOn}.`;
  return leavingPage(input.server.title, address, explanation);
}

/** The address comes from the authorization server's own metadata, or from Nango, and the page opens it by itself. */
function safeAddress(url: string): URL {
  if (!isSafeToOpen(url))
    throw new CredentialStoreError('the address to sign in at does not begin with https://');
  return new URL(url);
}

/** The response to a Connect form. Not a redirect: `form-action` of our Content-Security-Policy would block it. */
function leavingPage(serverTitle: string, providerUrl: URL, explanation: Html): Page {
  return {
    status: 200,
    title: `Going to ${serverTitle}`,
    onwardUrl: providerUrl.href,
    body: html`
      ${monogram(serverTitle)}
      <h1>Taking you to ${serverTitle}</h1>
      <p class="lead">${explanation}</p>
      <div class="actions"><a class="button" href="${providerUrl.href}">Continue</a></div>
    `,
  };
}
