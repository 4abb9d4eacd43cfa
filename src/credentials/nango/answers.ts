/** Nango's answers, as far as we read them, and what they become. Everything else in them is left where it is. */
import { z } from 'zod';
import { readPresent } from '../../elicitation/form/schema-keywords.ts';
import type { Tags } from './link.ts';

export interface Listed {
  connectionId: string;
  tags: Tags;
  createdAt: number;
}

export interface Connection extends Listed {
  integration: string;
  updatedAt: number;
  /** Null when our key may not read it, or the account is of a kind that has no token. */
  token: { accessToken: string; expiresAt: number | null } | null;
  /** Null when the provider does not say. */
  scopes: string[] | null;
  idToken: string | undefined;
}

/** Nango's versions do not agree on how to write one. */
const time = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((milliseconds) => Number.isFinite(milliseconds));
const tags = z.preprocess((some) => readPresent(some ?? {}), z.record(z.string(), z.string()));
export const sessionSchema = z.object({ data: z.object({ token: z.string().min(1), expires_at: time }) });
export const listSchema = z.object({
  connections: z.array(z.object({ connection_id: z.string(), tags, created: time })),
});
const credentialsSchema = z.object({
  access_token: z.string().nullish(),
  expires_at: time.nullish(),
  raw: z
    .object({
      scope: z.string().optional().catch(undefined),
      id_token: z.string().optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});
export const connectionSchema = z.object({
  connection_id: z.string(),
  provider_config_key: z.string(),
  tags,
  created_at: time,
  updated_at: time,
  credentials: credentialsSchema.nullish(),
});

export function toConnection(found: z.infer<typeof connectionSchema>): Connection {
  const { access_token: accessToken, expires_at: expiresAt, raw } = found.credentials ?? {};
  return {
    connectionId: found.connection_id,
    integration: found.provider_config_key,
    tags: found.tags,
    createdAt: found.created_at,
    updatedAt: found.updated_at,
    token: accessToken == null ? null : { accessToken, expiresAt: expiresAt ?? null },
    // Separated by spaces, but by commas at some well-known providers.
    scopes: raw?.scope === undefined ? null : raw.scope.split(/[\s,]+/).filter((scope) => scope !== ''),
    idToken: raw?.id_token,
  };
}
