/** What is kept of an account at an MCP server: who the program is there, its tokens, and where they came from. */
import path from 'node:path';
import { z } from 'zod';
import { createKeptFiles, userFolder } from '../../login/kept-files.ts';
import type { KeptFiles } from '../../login/kept-files.ts';

const accountSchema = z.object({
  server: z.string(),
  /** As the sign-in server knows the program, its secret included where it gave one. */
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  /** Where the server says that one signs in. */
  discovery: z.looseObject({ authorizationServerUrl: z.string() }).optional(),
});

export type Account = z.infer<typeof accountSchema>;

export function accountFiles(environment: NodeJS.ProcessEnv): KeptFiles<Account> {
  const folder = path.join(userFolder(environment), 'servers');
  return createKeptFiles(folder, (value) => accountSchema.safeParse(value).data);
}

/** By which it is kept: the address, without what may be secret in it. */
export function accountName({ origin, pathname }: URL): string {
  return origin + pathname;
}
