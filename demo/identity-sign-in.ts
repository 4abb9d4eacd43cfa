import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { formOf } from './form.ts';
import { expiredPage, pageHeaders, signInPage } from './identity-page.ts';
import { demoProgramClient } from '@interlude-ai/program/login/demo-token.ts';
import { demoUser } from './identity-users.ts';
import { wordsFor } from './words.ts';
import type { DemoWords } from './words.ts';

/** The sign-in page (GET) and the button that was pressed on it (POST). */
export async function askWhoYouAre(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const words = wordsFor(request.headers['accept-language']);
  const interaction = await provider.interactionDetails(request, response).catch(() => undefined);
  if (!interaction) {
    response.writeHead(400, pageHeaders).end(expiredPage(words));
    return;
  }
  const form = request.method === 'POST' ? await formOf(request) : undefined;
  if (form?.has('deny')) {
    const denied = { error: 'access_denied', error_description: 'the user denied it' };
    const location = await provider.interactionResult(request, response, denied);
    response.writeHead(303, { location }).end();
    return;
  }
  const user = demoUser(form?.get('user') ?? '');
  if (!user) {
    const program = programIn(words, interaction.params);
    response.writeHead(200, pageHeaders).end(signInPage(words, interaction.uid, program));
    return;
  }
  const location = await provider.interactionResult(request, response, { login: { accountId: user.id } });
  await forgetSomeoneElse(provider, interaction.session?.uid, user.id);
  response.writeHead(303, { location }).end();
}

/** What signs in, if it is the program `interlude`. The device flow has no redirect URI: its code was entered on a page. */
function programIn(
  words: DemoWords,
  { client_id: client, redirect_uri: redirect }: Record<string, unknown>,
): string | undefined {
  if (client !== demoProgramClient) return undefined;
  return typeof redirect === 'string' ? words.programHere(new URL(redirect).host) : words.programOfCode;
}

/** The provider would send a change of user through a logout form that submits itself, which needs a script. */
async function forgetSomeoneElse(
  provider: Provider,
  sessionUid: string | undefined,
  user: string,
): Promise<void> {
  const session = sessionUid === undefined ? undefined : await provider.Session.findByUid(sessionUid);
  if (!session?.accountId || session.accountId === user) return;
  session.accountId = undefined;
  session.authorizations = {};
  await session.persist();
}
