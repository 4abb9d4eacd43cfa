/** The service's surroundings: a folder, a port, Tracker, and the identity provider. Removed with the stack. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { demoAudience, demoLoginClient } from '../../demo/identity.ts';
import type { IdentityProvider } from '../../demo/identity.ts';
import { startTracker } from '../../demo/tracker/tracker.ts';
import type { Tracker } from '../../demo/tracker/tracker.ts';
import { freePort } from '../free-port.ts';
import { startIdentity } from './identity.ts';

export interface Dependencies {
  dataDir: string;
  baseUrl: string;
  tracker: Tracker;
  identity: IdentityProvider;
  /** Tells the service where they are. */
  env: { PORT: string } & Record<string, string>;
}

export async function startDependencies(
  stack: AsyncDisposableStack,
  givenPort?: number,
): Promise<Dependencies> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const port = givenPort ?? (await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const tracker = await startTracker({ port: 0, dataDir: path.join(dataDir, 'tracker') });
  stack.defer(() => tracker.stop());
  const identity = await startIdentity({
    port: 0,
    dataDir: path.join(dataDir, 'identity'),
    redirectUris: [`${baseUrl}/auth/login/callback`],
  });
  stack.defer(() => identity.stop());
  const env = {
    PORT: String(port),
    TRACKER_URL: tracker.url,
    AUTH_ISSUER: identity.issuer,
    AUTH_AUDIENCE: demoAudience,
    AUTH_CLIENT_ID: demoLoginClient,
  };
  return { dataDir, baseUrl, tracker, identity, env };
}
