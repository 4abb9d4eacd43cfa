/** Refuses clients whose version does not fit the service's, with what to update. Others send no version, and are let in. */
import type { FastifyInstance } from 'fastify';
import { clientHeader, oldest, serviceHeader, version } from '@interlude-ai/core/contract/version.ts';
import { invalidRequest, ProblemError } from './problems.ts';

const form = /^(\d{1,9}\.\d{1,9}\.\d{1,9})(?:-[\w.-]{1,50})?; service=(\d{1,9}\.\d{1,9}\.\d{1,9})$/;

/** Register it before authentication, whose rules may differ between versions, too. */
export function refuseOtherVersions(api: FastifyInstance): void {
  api.addHook('onRequest', async ({ headers }, reply) => {
    reply.header(serviceHeader, version);
    const sent = headers[clientHeader]?.toString();
    if (sent === undefined) return;
    const [, client, needed] = form.exec(sent) ?? [];
    if (client === undefined || needed === undefined)
      throw invalidRequest([
        {
          pointer: `/${clientHeader}`,
          detail: 'send versions, like `0.2.0; service=0.2.0`, or leave the header out',
        },
      ]);
    if (isOlder(client, oldest.client))
      throw new ProblemError(
        'version_mismatch',
        `This client has version ${client}; this service, ${version}, works with clients of version ${oldest.client} and newer. Reload the page, or update @interlude-ai/client or the program interlude.`,
      );
    if (isOlder(version, needed))
      throw new ProblemError(
        'version_mismatch',
        `This client, ${client}, needs a service of version ${needed} or newer, and this one has ${version}. Update the service, or use a client of version ${minorOf(version)}.`,
      );
  });
}

function isOlder(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) < 0;
}

function minorOf(release: string): string {
  return release.split('.', 2).join('.');
}
