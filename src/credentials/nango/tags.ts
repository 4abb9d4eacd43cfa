/**
 * What our connections carry at Nango, and by which alone they are recognised: which installation began it, and in
 * which attempt. Both are random to whoever reads them there; people, their names and our tenants are not in them.
 */
import { createHash } from 'node:crypto';

export type Tags = Record<string, string>;

const installationTag = 'interlude_installation';
const attemptTag = 'interlude_attempt';

/** Several installations may share an environment of Nango; each has its own address. */
export function installationOf(publicUrl: string): string {
  return createHash('sha256').update(`installation ${publicUrl}`).digest('base64url').slice(0, 22);
}

export function tagsOf(installation: string, attemptId: string): Tags {
  return { [installationTag]: installation, [attemptTag]: attemptId };
}

/** The attempt that these tags name, also somebody else's; null when there is none. */
export function attemptIn(tags: Tags): string | null {
  return tags[attemptTag] ?? null;
}

export function isOfInstallation(tags: Tags, installation: string): boolean {
  return tags[installationTag] === installation;
}

export function isOfAttempt(tags: Tags, installation: string, attemptId: string): boolean {
  return isOfInstallation(tags, installation) && tags[attemptTag] === attemptId;
}
