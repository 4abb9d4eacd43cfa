/** Signs the tokens of the bench's users: as many users as there are samples, each of them new to the service. */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { listen } from '../../demo/listen.ts';

export interface Issuer {
  url: string;
  audience: string;
  token(user: string): Promise<string>;
  stop(): Promise<void>;
}

export const tenant = 'bench';
const audience = 'interlude-bench';
const alg = 'RS256';

export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const key = { ...(await exportJWK(publicKey)), use: 'sig', alg, kid: 'bench' };
  const server = createServer((request, response) => {
    const document = request.url === '/keys' ? { keys: [key] } : { issuer: url, jwks_uri: `${url}/keys` };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  const { port, stop } = await listen(server, 0, 'none');
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    audience,
    token: (user) =>
      new SignJWT({ tenant })
        .setProtectedHeader({ alg, kid: 'bench' })
        .setIssuer(url)
        .setAudience(audience)
        .setSubject(user)
        .setIssuedAt()
        .setExpirationTime('2h')
        .sign(privateKey),
    stop,
  };
}
