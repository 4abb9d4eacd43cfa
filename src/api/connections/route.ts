/** The accounts a caller has connected: what there is, and the end of one. */
import {
  ConnectionListSchema,
  DisconnectedSchema,
  ScopeQuerySchema,
  ServerParamsSchema,
} from '../../contract/connections.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import type { Api } from '../http/validation.ts';
import { toConnection } from './translate.ts';

export function connectionsSurface(api: Api, { connections }: Pick<Service, 'connections'>): void {
  const list = describeRoute({
    tag: 'connections',
    id: 'listConnections',
    summary: "The caller's own connections, and those everybody in the tenant shares",
    description: 'Servers that need an account and have none yet are among them, as `missing`.',
    response: { 200: json('All of them', ConnectionListSchema) },
  });
  api.get('/run/v1/connections', { schema: list }, async ({ principal }) => ({
    items: (await connections.list(principal)).map(toConnection),
    next: null,
  }));

  const remove = describeRoute({
    tag: 'connections',
    id: 'disconnect',
    summary: 'Disconnect an account',
    description:
      'Forgets it here in any case, and tells its provider where that is possible. Safe to repeat. A user ends their own; ' +
      'one that everybody shares, an operator, with `scope=project`.',
    response: { 200: json('It is not connected any more', DisconnectedSchema) },
    problems: ['forbidden', 'person_required', 'unknown_server'],
  });
  api.delete(
    '/run/v1/connections/:server',
    { schema: { ...remove, params: ServerParamsSchema, querystring: ScopeQuerySchema } },
    async ({ principal, params: { server }, query: { scope }, ip }) => {
      const { revokedAtProvider } = await connections.disconnect(principal, { server, scope }, ip);
      return { server, revokedAtProvider };
    },
  );
}
