/** The browser's part: who are you, and may this client act for you? */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Grant, InteractionResults, Provider } from 'oidc-provider';
import { formOf } from '../form.ts';
import { isAccount } from './accounts.ts';
import type { Account } from './accounts.ts';
import { consentPage, pageHeaders, problemPage, signInPage } from './pages.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

export async function handleSignIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let interaction: Interaction;
  try {
    interaction = await provider.interactionDetails(request, response);
  } catch {
    response.writeHead(400, pageHeaders).end(problemPage());
    return;
  }
  const result =
    request.method === 'POST' ? await decide(provider, interaction, await formOf(request)) : undefined;
  if (result)
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  response.writeHead(200, pageHeaders).end(await show(provider, interaction));
}

async function show(provider: Provider, interaction: Interaction): Promise<string> {
  const account = interaction.session?.accountId;
  if (interaction.prompt.name === 'login' || !isAccount(account)) return signInPage(interaction.uid);
  const { client_id: clientId, redirect_uri: redirectUri } = interaction.params;
  const client = await provider.Client.find(String(clientId));
  return consentPage({
    uid: interaction.uid,
    client: client?.clientName ?? 'An application without a name',
    host: new URL(String(redirectUri)).host,
    account,
    scopes: scopesAsked(interaction),
  });
}

async function decide(
  provider: Provider,
  interaction: Interaction,
  form: URLSearchParams,
): Promise<InteractionResults | undefined> {
  const account = form.get('account');
  const current = interaction.session?.accountId;
  if (isAccount(account)) {
    if (current !== undefined && current !== account) await signOut(provider, interaction);
    return { login: { accountId: account } };
  }
  if (interaction.prompt.name !== 'consent' || !isAccount(current)) return undefined;
  switch (form.get('decision')) {
    case 'allow':
      return { consent: { grantId: await grant(provider, interaction, current) } };
    case 'deny':
      return { error: 'access_denied', error_description: 'Access was denied at Tracker' };
    default:
      return undefined;
  }
}

/** Another person in the middle of a request: the session is emptied, and the request forgets whose it was. */
async function signOut(provider: Provider, interaction: Interaction): Promise<void> {
  const session = await provider.Session.findByUid(interaction.session?.uid ?? '');
  if (!session) return;
  delete session.accountId;
  session.authorizations = {};
  await session.persist();
  delete interaction.session;
  await interaction.save(interaction.exp - Math.floor(Date.now() / 1000));
}

async function grant(provider: Provider, interaction: Interaction, account: Account): Promise<string> {
  const known =
    interaction.grantId === undefined ? undefined : await provider.Grant.find(interaction.grantId);
  const agreed: Grant =
    known ?? new provider.Grant({ accountId: account, clientId: String(interaction.params['client_id']) });
  const { missingOIDCScope = [], missingResourceScopes = {} } = missing(interaction);
  if (missingOIDCScope.length > 0) agreed.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes)) {
    agreed.addResourceScope(resource, scopes.join(' '));
  }
  return agreed.save();
}

function scopesAsked(interaction: Interaction): string[] {
  const { missingOIDCScope = [], missingResourceScopes = {} } = missing(interaction);
  return [...new Set([...missingOIDCScope, ...Object.values(missingResourceScopes).flat()])];
}

interface Missing {
  missingOIDCScope?: string[];
  missingResourceScopes?: Record<string, string[]>;
}

function missing(interaction: Interaction): Missing {
  return interaction.prompt.details as Missing;
}
