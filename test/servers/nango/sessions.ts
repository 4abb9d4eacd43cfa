/** Connect sessions: what a browser is given so that it may connect one account. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { integrations } from './nango-state.ts';
import type { ConnectSession, NangoState } from './nango-state.ts';
import { Refusal } from './refusal.ts';

/** What may be asked for: strict, as Nango's own API is. */
const tagKey = z
  .string()
  .max(64)
  .regex(/^[a-zA-Z][a-zA-Z0-9_\-./]*$/);
export const tagsSchema = z
  .record(tagKey, z.string().min(1).max(255))
  .refine((tags) => Object.keys(tags).length <= 10, 'at most 10 tags')
  .refine((tags) => {
    const email = Object.entries(tags).find(([key]) => key.toLowerCase() === 'end_user_email');
    return !email || z.email().safeParse(email[1]).success;
  }, 'end_user_email must be an email address')
  .transform((tags) =>
    Object.fromEntries(Object.entries(tags).map(([key, value]) => [key.toLowerCase(), value])),
  );

const endUser = z.strictObject({
  id: z.string().min(1).max(255),
  email: z.email().optional(),
  display_name: z.string().optional(),
  tags: z.record(z.string(), z.string()).optional(),
});

const defaults = z.record(
  z.string(),
  z.strictObject({
    user_scopes: z.string().optional(),
    authorization_params: z.record(z.string(), z.string()).optional(),
    connection_config: z.looseObject({ oauth_scopes_override: z.string().optional() }).optional(),
  }),
);

const common = {
  tags: tagsSchema.optional(),
  end_user: endUser.optional(),
  organization: z.strictObject({ id: z.string(), display_name: z.string().optional() }).optional(),
  integrations_config_defaults: defaults.optional(),
  overrides: z.record(z.string(), z.strictObject({ docs_connect: z.string().optional() })).optional(),
  webhook_url_override: z.url().optional(),
};

const sessionBody = z
  .strictObject({ ...common, allowed_integrations: z.array(z.string()).optional() })
  .refine((body) => body.tags !== undefined || body.end_user !== undefined, {
    path: ['end_user'],
    message: 'end_user or tags is needed',
  });

const reconnectBody = z.strictObject({
  ...common,
  connection_id: z.string(),
  integration_id: z.string(),
});

export const patchBody = z.strictObject({
  tags: tagsSchema.optional(),
  end_user: endUser.optional(),
  webhook_url_override: z.url().nullable().optional(),
});

export const importBody = z.strictObject({
  provider_config_key: z.string(),
  connection_id: z.string().min(1).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  connection_config: z.record(z.string(), z.unknown()).optional(),
  webhook_url_override: z.url().optional(),
  credentials: z.looseObject({
    type: z.literal('OAUTH2'),
    access_token: z.string(),
    refresh_token: z.string().optional(),
    expires_at: z.coerce.date().optional(),
  }),
  end_user: endUser.optional(),
  tags: tagsSchema.optional(),
});

export function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  const errors = error.issues.map(({ code, message, path }) => ({ code, message, path }));
  throw new Refusal(400, 'invalid_body', { errors });
}

/** End users are kept as tags, too; tags that are given win. */
function tagsOf({
  tags = {},
  end_user: user,
  organization,
}: Pick<z.infer<typeof sessionBody>, 'tags' | 'end_user' | 'organization'>): Record<string, string> {
  const copied = {
    end_user_id: user?.id,
    end_user_email: user?.email,
    organization_id: organization?.id,
  };
  return {
    ...Object.fromEntries(
      Object.entries(copied).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    ...tags,
  };
}

export type Answer = [status: number, body?: unknown];

export function createSession(state: NangoState, body: unknown): Answer {
  const wanted = checked(sessionBody, body);
  const errors = (wanted.allowed_integrations ?? []).flatMap((name, index) =>
    isIntegration(name) ? [] : [unknown(['allowed_integrations', index])],
  );
  errors.push(...unknownIn('integrations_config_defaults', wanted.integrations_config_defaults));
  if (errors.length > 0) throw new Refusal(400, 'invalid_body', { errors });
  return opened(state, wanted, { allowed: wanted.allowed_integrations ?? null, connection: null });
}

export function createReconnectSession(state: NangoState, body: unknown): Answer {
  const wanted = checked(reconnectBody, body);
  const connection = state.connections.find(
    (one) => one.connectionId === wanted.connection_id && one.integration === wanted.integration_id,
  );
  if (!connection)
    throw new Refusal(400, 'invalid_body', { message: 'ConnectionID or IntegrationId does not exists' });
  const errors = unknownIn('integrations_config_defaults', wanted.integrations_config_defaults);
  if (errors.length > 0) throw new Refusal(400, 'invalid_body', { errors });
  return opened(state, wanted, { allowed: [wanted.integration_id], connection });
}

export function deleteSession(state: NangoState, authorization: string | undefined): Answer {
  const session = sessionOf(state, authorization?.replace(/^Bearer /, ''));
  state.sessions.delete(session.token);
  // A flow that has begun goes on, and its connection has no owner.
  for (const flow of state.flows.values()) if (flow.session === session) flow.session = null;
  return [204];
}

/** Valid until it expires, for any number of flows. */
export function sessionOf(state: NangoState, token: string | null | undefined): ConnectSession {
  const session = state.sessions.get(token ?? '');
  if (!token?.startsWith('nango_connect_session_'))
    throw new Refusal(401, 'invalid_connect_session_token_format');
  if (!session || session.expiresAt <= state.now()) throw new Refusal(401, 'unknown_connect_session_token');
  return session;
}

type Wanted = Omit<z.infer<typeof sessionBody>, 'allowed_integrations'>;

function opened(
  state: NangoState,
  wanted: Wanted,
  more: Pick<ConnectSession, 'allowed' | 'connection'>,
): Answer {
  const session: ConnectSession = {
    token: `nango_connect_session_${randomBytes(32).toString('hex')}`,
    expiresAt: state.now() + state.options.sessionLifeMs,
    tags: tagsOf(wanted),
    webhookUrlOverride: wanted.webhook_url_override ?? null,
    defaults: wanted.integrations_config_defaults ?? {},
    ...more,
  };
  state.sessions.set(session.token, session);
  const data = {
    token: session.token,
    connect_link: `${state.host}/?session_token=${session.token}`,
    expires_at: new Date(session.expiresAt).toISOString(),
  };
  return [201, { data }];
}

export function isIntegration(name: string): boolean {
  return integrations.some((one) => one === name);
}

function unknownIn(member: string, entries: object = {}) {
  return Object.keys(entries).flatMap((name) => (isIntegration(name) ? [] : [unknown([member, name])]));
}

function unknown(path: (string | number)[]) {
  return { code: 'custom', message: 'Integration does not exist', path };
}
