/** Which version of the protocol a request speaks. Without a word it is 0.3: specification 1.0, section 3.6.2. */
import { Extensions } from '@a2a-js/sdk';
import type { FastifyRequest } from 'fastify';

const legacyVersion = '0.3';

type VersionedRequest = Pick<FastifyRequest, 'headers' | 'query'>;

export function versionOf(request: VersionedRequest): string {
  return namedVersionOf(request) ?? legacyVersion;
}

export function namedVersionOf({ headers, query }: VersionedRequest): string | null {
  const named = headers['a2a-version'] ?? (query as Record<string, unknown>)['A2A-Version'];
  const version = typeof named === 'string' ? named.trim() : '';
  // Patch numbers are no part of the version that is spoken (section 3.6): 1.0.1 is 1.0.
  return version === '' ? null : version.replace(/^(\d+\.\d+)\.\d+$/, '$1');
}

export function isLegacy(version: string): boolean {
  return version === legacyVersion;
}

/** The extensions that the caller has asked for; 0.3 names the header differently. */
export function extensionsOf({ headers }: Pick<FastifyRequest, 'headers'>): string[] {
  const named = headers['a2a-extensions'] ?? headers['x-a2a-extensions'];
  return Extensions.parseServiceParameter(Array.isArray(named) ? named.join(',') : named);
}
