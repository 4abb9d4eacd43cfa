/** What may be asked for: strict, as Nango's own API is. */
import { z } from 'zod';
import { Refusal } from './refusal.ts';

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

export const sessionBody = z
  .strictObject({ ...common, allowed_integrations: z.array(z.string()).optional() })
  .refine((body) => body.tags !== undefined || body.end_user !== undefined, {
    path: ['end_user'],
    message: 'end_user or tags is needed',
  });

export const reconnectBody = z.strictObject({
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
export function tagsOf({
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
