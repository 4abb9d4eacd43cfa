/**
 * Versions of client and service. A client names its own and the oldest service that it works with; the service decides
 * whether the two fit, before it does anything.
 */

/** Of this release. `npm run release` sets it. */
export const version = '0.2.0';

/** The oldest release of the other side that works with this one. Raise it only as docs/stability.md allows. */
export const oldest = { client: '0.2.0', service: '0.2.0' };

export const clientHeader = 'x-interlude-client';
export const serviceHeader = 'x-interlude-version';

/** What a client sends. */
export const thisClient = `${version}; service=${oldest.service}`;
