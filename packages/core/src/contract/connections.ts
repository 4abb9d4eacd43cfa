/** Accounts at servers, as their owner sees them. */
import { z } from 'zod';

export const ConnectionSchema = z
  .looseObject({
    server: z.string(),
    serverTitle: z.string(),
    host: z.string().nullable().meta({ description: 'Of the server; null when it cannot be told any more' }),
    scope: z.enum(['user', 'project']).meta({
      description:
        '`user`: the caller’s own account. `project`: one that everybody in the tenant uses; only an operator connects or removes it',
    }),
    status: z
      .enum(['active', 'broken', 'missing'])
      .meta({ description: '`broken` and `missing`: the next call that needs it asks' }),
    reason: z
      .enum(['rejected', 'insufficient_scope', 'revoked', 'server_changed', 'unreadable', 'client_refused'])
      .optional()
      .meta({
        description:
          'Why it is broken. `server_changed`: the service no longer uses the server it was connected for. `unreadable`: the key it is kept with is missing. `client_refused`: its sign-in server does not accept this service, which its operator has to correct; no user is asked',
      }),
    account: z.string().nullable().meta({
      description:
        'As whom; of an API key, how it ends; null where there is nothing to say, and of a shared one to all but operators',
    }),
    scopes: z.array(z.string()),
    connectedAt: z.iso.datetime().nullable(),
  })
  .meta({
    id: 'Connection',
    examples: [
      {
        server: 'tracker',
        serverTitle: 'Tracker',
        host: 'tracker.example.com',
        scope: 'user',
        status: 'active',
        account: 'alice@example.com',
        scopes: ['issues:read', 'issues:write'],
        connectedAt: '2026-11-21T12:00:00.000Z',
      },
    ],
  });

export type Connection = z.infer<typeof ConnectionSchema>;

export const ConnectionListSchema = z
  .looseObject({
    items: z.array(ConnectionSchema),
    next: z.string().nullable().meta({ description: 'Always null: there are as many as servers' }),
  })
  .meta({ id: 'ConnectionList' });

export type ConnectionList = z.infer<typeof ConnectionListSchema>;

export const DisconnectedSchema = z
  .looseObject({
    server: z.string(),
    revokedAtProvider: z.boolean().nullable().meta({
      description:
        '`true`: the provider has ended the account’s tokens. `false`: it could not be told, or refused. `null`: there was nothing to end, or the provider has no means for it',
    }),
  })
  .meta({ id: 'Disconnected', examples: [{ server: 'tracker', revokedAtProvider: true }] });

export type Disconnected = z.infer<typeof DisconnectedSchema>;

/** The form of server names in the agents file. */
const form = /^[a-z][a-z0-9_-]{0,31}$/;

export const ServerParamsSchema = z.object({
  server: z
    .string()
    .regex(form, 'no server has such a name: 1–32 of a-z, 0-9, - and _, starting with a letter')
    .meta({ description: 'Its name in the agents file', examples: ['tracker'] }),
});

/** Selects between the user's own account and the shared one of the same server. */
export const ScopeQuerySchema = z.object({
  scope: z
    .enum(['user', 'project'])
    .default('user')
    .meta({
      description: '`project`: the account that everybody in the tenant uses, for operators',
      examples: ['user'],
    }),
});
