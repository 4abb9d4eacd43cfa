/** The app's own key: it signs sessions for the app itself, and tokens for Interlude. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { exportJWK, jwtVerify, SignJWT } from 'jose';

export const appUrl = process.env.APP_URL ?? '';
const kid = 'app-1';
const alg = 'ES256';
const privateKey = () => createPrivateKey(process.env.SIGNING_KEY ?? '');
const publicKey = () => createPublicKey(privateKey());

/** What `/.well-known/jwks.json` shows. */
export const keySet = async () => ({ keys: [{ ...(await exportJWK(publicKey())), kid, alg, use: 'sig' }] });

function sign(user: string, audience: string, lifetime: string): Promise<string> {
  return new SignJWT()
    .setProtectedHeader({ alg, kid })
    .setSubject(user)
    .setIssuer(appUrl)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(lifetime)
    .sign(privateKey());
}

/** The page gets it and sends it to the service; it asks for another before each request. */
export const tokenFor = (user: string) => sign(user, 'interlude', '10m');
export const sessionFor = (user: string) => sign(user, 'session', '8h');

/** Only sessions: a token for the service opens none. */
export async function userOfSession(session: string): Promise<string | null> {
  const rules = { issuer: appUrl, audience: 'session', algorithms: [alg] };
  const { payload } = await jwtVerify(session, publicKey(), rules).catch(() => ({ payload: null }));
  return payload?.sub ?? null;
}
