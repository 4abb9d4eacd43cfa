/** `npm start`: builds the app, then runs it beside the service, which trusts it as the issuer of tokens. */
import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const { PORT = '3000', APP_PORT = '3001' } = process.env;
const app = `http://127.0.0.1:${APP_PORT}`;
const service = `http://127.0.0.1:${PORT}`;
const next = 'node_modules/next/dist/bin/next';

/** In production: from your secrets, as SIGNING_KEY. */
function ownKey() {
  const file = '.interlude/signing-key.pem';
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    mkdirSync('.interlude', { recursive: true });
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  }
  return readFileSync(file, 'utf8');
}

const ofApp = {
  ...process.env,
  NEXT_TELEMETRY_DISABLED: '1',
  APP_URL: app,
  INTERLUDE_URL: service,
  SIGNING_KEY: process.env.SIGNING_KEY ?? ownKey(),
};
const { SIGNING_KEY: _key, ...others } = process.env;
const ofService = {
  ...others,
  AUTH_ISSUER: app,
  AUTH_AUDIENCE: 'interlude',
  // For the service's own pages, where people connect accounts; this app has none to connect.
  AUTH_CLIENT_ID: 'interlude',
  CORS_ORIGINS: app,
};

const built = spawnSync(process.execPath, [next, 'build'], { env: ofApp, stdio: 'inherit' });
if (built.status !== 0) process.exit(1);
const run = (args, env) => spawn(process.execPath, args, { env, stdio: 'inherit' });
const children = [
  run([next, 'start', '--port', APP_PORT, '--hostname', '127.0.0.1'], ofApp),
  run(['../../src/cli/interlude.mjs', 'start'], ofService),
];
const stop = () => children.forEach((child) => child.kill('SIGTERM'));
for (const child of children) child.once('exit', stop);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
console.log(`The chat, once both are ready: ${app}`);
