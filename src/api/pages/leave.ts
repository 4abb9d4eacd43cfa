/** On the way to a server's provider, whoever sends the person there. */
import type { BeginInput } from '../../credentials/mcp-oauth/begin.ts';
import type { OAuthStore } from '../../credentials/mcp-oauth/store.ts';
import type { NangoBegin } from '../../credentials/nango/begin.ts';
import type { NangoStore } from '../../credentials/nango/store.ts';
import { CredentialStoreError } from '../../credentials/store-error.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { Page } from './layout.ts';
import { monogram } from './marks.ts';

/** Throws `CredentialStoreError` with words for the person. */
export async function leaveTo(store: Pick<OAuthStore, 'begin'>, input: BeginInput): Promise<Page> {
  const { url } = await store.begin(input);
  const address = webAddress(url);
  const way = html`You sign in at <strong>${address.host}</strong> and come back here.`;
  return leavingPage(input.server.title, address, way);
}

/** The same for Nango, which sends nobody back. */
export async function leaveByNango(store: Pick<NangoStore, 'begin'>, input: NangoBegin): Promise<Page> {
  const { pageUrl } = await store.begin(input);
  const address = new URL(pageUrl);
  const goesOn =
    input.elicitationId === null ? 'open your connections again' : 'your conversation goes on by itself';
  const way = html`You go there by way of <strong>${address.host}</strong>. When its page says that you are
    done, close it: ${goesOn}.`;
  return leavingPage(input.server.title, address, way);
}

/** The address comes from the authorization server's own metadata: anything but a web page is refused. */
function webAddress(url: string): URL {
  const address = new URL(url);
  if (!['https:', 'http:'].includes(address.protocol))
    throw new CredentialStoreError('the authorization address is not a web page');
  return address;
}

/** The answer to a Connect form. Not a redirect: `form-action` would stop it at the provider's door. */
function leavingPage(serverTitle: string, providerUrl: URL, way: Html): Page {
  return {
    status: 200,
    title: `Going to ${serverTitle}`,
    onwardUrl: providerUrl.href,
    body: html`
      ${monogram(serverTitle)}
      <h1>Taking you to ${serverTitle}</h1>
      <p class="lead">${way}</p>
      <div class="actions"><a class="button" href="${providerUrl.href}">Continue</a></div>
    `,
  };
}
