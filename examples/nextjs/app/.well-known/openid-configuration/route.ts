/** Where the service, which trusts this app as its issuer, finds the keys. */
import { appUrl } from '../../../lib/tokens.ts';

export const dynamic = 'force-dynamic';
export const GET = () => Response.json({ issuer: appUrl, jwks_uri: `${appUrl}/.well-known/jwks.json` });
