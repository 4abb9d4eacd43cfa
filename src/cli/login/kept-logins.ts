/** The logins of whoever runs the program, one for each service. */
import path from 'node:path';
import { z } from 'zod';
import { createKeptFiles, userFolder } from './kept-files.ts';
import type { KeptFiles } from './kept-files.ts';

const LoginSchema = z.object({
  service: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** Epoch milliseconds; absent where the issuer does not say. */
  expiresAt: z.number().optional(),
  name: z.string().optional(),
});

export type Login = z.infer<typeof LoginSchema>;

export interface KeptLogins extends Omit<KeptFiles<Login>, 'write'> {
  write(login: Login): void;
}

export function loginsFolder(environment: NodeJS.ProcessEnv, platform = process.platform): string {
  return path.join(userFolder(environment, platform), 'logins');
}

export function createKeptLogins(folder: string): KeptLogins {
  const files = createKeptFiles(folder, (value) => LoginSchema.safeParse(value).data);
  return {
    ...files,
    read(service) {
      const login = files.read(service);
      return login?.service === service ? login : null;
    },
    write: (login) => files.write(login.service, login),
  };
}
