/** What sign-in servers read about us (client id metadata documents), and what operators have to write there by hand. */
import type { FastifyInstance } from 'fastify';
import type { PagesParts } from '../context.ts';
import { notice } from '../outcome-pages.ts';
import { sendPage } from '../layout.ts';

export function clientRoutes(
  fastify: FastifyInstance,
  { oauthClient, logger }: Pick<PagesParts, 'oauthClient' | 'logger'>,
): void {
  fastify.get(oauthClient.documentPath, () => oauthClient.document(null));
  fastify.get<{ Params: { document: string } }>('/auth/client/:document', async (request, reply) => {
    const { document: name } = request.params;
    const document = name.endsWith('.json') ? oauthClient.document(name.replace(/\.json$/, '')) : null;
    return document ?? sendPage(reply, nothingHere);
  });

  for (const registration of oauthClient.registrations())
    logger.info(
      registration,
      'a client of ours at this sign-in server has to be registered with this redirect URI',
    );
}

const nothingHere = notice(404, 'There is nothing here', 'Check the address.');
