/** What sign-in servers read about us (client id metadata documents), and what operators have to write there by hand. */
import type { FastifyInstance } from 'fastify';
import {
  clientMetadata,
  issuerTagPattern,
  redirectUri,
  sharedClientPath,
} from '../../../credentials/mcp-oauth/client-metadata.ts';
import type { PagesParts } from '../context.ts';
import { notice } from '../outcome-pages.ts';
import { sendPage } from '../layout.ts';

export function clientRoutes(fastify: FastifyInstance, { config, logger }: PagesParts): void {
  const { publicUrl } = config.http;

  fastify.get(sharedClientPath, () => clientMetadata(publicUrl, null));
  fastify.get<{ Params: { document: string } }>('/auth/client/:document', async (request, reply) => {
    const tag = request.params.document.replace(/\.json$/, '');
    const isOne = request.params.document.endsWith('.json') && issuerTagPattern.test(tag);
    return isOne ? clientMetadata(publicUrl, tag) : sendPage(reply, nothingHere);
  });

  for (const { name, oauth } of config.servers.values()) {
    if (oauth?.issuer === undefined) continue;
    const { issuer, clientId } = oauth;
    const redirect = redirectUri(publicUrl, issuer);
    logger.info(
      { server: name, issuer, clientId, redirectUri: redirect },
      'a client of ours at this sign-in server has to be registered with this redirect URI',
    );
  }
}

const nothingHere = notice(404, 'There is nothing here', 'Check the address.');
