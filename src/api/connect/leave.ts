/** On the way to a server's provider, whoever sends the person there. */
import type { BeginInput } from '../../credentials/mcp-oauth/begin.ts';
import type { OAuthStore } from '../../credentials/mcp-oauth/store.ts';
import { CredentialStoreError } from '../../credentials/store.ts';
import { html } from './html.ts';
import type { Page } from './layout.ts';
import { monogram } from './marks.ts';

/** Throws `CredentialStoreError` with words for the person. */
export async function leaveTo(store: Pick<OAuthStore, 'begin'>, input: BeginInput): Promise<Page> {
  const { url } = await store.begin(input);
  return leavingPage(input.server.title, webAddress(url));
}

/** The address comes from the authorization server's own metadata: anything but a web page is refused. */
function webAddress(url: string): URL {
  const address = new URL(url);
  if (!['https:', 'http:'].includes(address.protocol))
    throw new CredentialStoreError('the authorization address is not a web page');
  return address;
}

/** The answer to a Connect form. Not a redirect: `form-action` would stop it at the provider's door. */
function leavingPage(serverTitle: string, providerUrl: URL): Page {
  return {
    status: 200,
    title: `Going to ${serverTitle}`,
    onwardUrl: providerUrl.href,
    body: html`
      ${monogram(serverTitle)}
      <h1>Taking you to ${serverTitle}</h1>
      <p class="lead">You sign in at <strong>${providerUrl.host}</strong> and come back here.</p>
      <div class="actions"><a class="button" href="${providerUrl.href}">Continue</a></div>
    `,
  };
}
