/** `npm start`: Keycloak with the realm, the service of this repository, and the page. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';
import { installKeycloak } from '../../scripts/setup/keycloak.mjs';

const here = import.meta.dirname;
const root = fileURLToPath(new URL('../..', import.meta.url));
const keycloakUrl = 'http://127.0.0.1:8080';
const serviceUrl = 'http://127.0.0.1:3000';
const pageUrl = 'http://127.0.0.1:5173';

const settings = {
  PORT: new URL(serviceUrl).port,
  PUBLIC_URL: serviceUrl,
  CORS_ORIGINS: pageUrl,
  AUTH_ISSUER: `${keycloakUrl}/realms/acme`,
  AUTH_AUDIENCE: 'interlude',
  AUTH_CLIENT_ID: 'interlude',
  AUTH_CLIENT_SECRET: 'change-me',
  AUTH_PROGRAM_CLIENT_ID: 'interlude-app',
  AUTH_TENANT_CLAIM: 'tenant',
  AUTH_OPERATOR_ROLE: 'interlude-operator',
};

async function startKeycloak(): Promise<ChildProcess> {
  const folder = path.join(here, '.keycloak');
  if (!existsSync(folder)) cpSync(await installKeycloak(), folder, { recursive: true });
  mkdirSync(path.join(folder, 'data/import'), { recursive: true });
  copyFileSync(path.join(here, 'realm.json'), path.join(folder, 'data/import/acme.json'));
  const options = ['--import-realm', '--db=dev-mem', `--hostname=${keycloakUrl}`];
  const child = spawn(
    path.join(folder, 'bin/kc.sh'),
    ['start-dev', ...options, '--http-host=127.0.0.1', `--http-port=${new URL(keycloakUrl).port}`],
    {
      env: { ...process.env, KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin' },
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own, with the Java that it starts.
      detached: true,
    },
  );
  process.once('exit', () => endGroup(child));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`Keycloak ended (${code ?? 'killed'}).`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text);
      if (text.includes('Listening on:')) resolve();
    });
  });
  return child;
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid);
  } catch {
    // It has ended.
  }
}

function startServers(): Plugin {
  return {
    name: 'keycloak and interlude',
    async configureServer() {
      // By itself, Ctrl+C would end Vite without the event `exit`.
      process.once('SIGINT', () => process.exit(130));
      const keycloak = await startKeycloak();
      const service = spawn(process.execPath, [path.join(root, 'src/cli/interlude.mjs'), 'start'], {
        cwd: root,
        env: { ...process.env, ...settings },
        stdio: 'inherit',
      });
      process.once('exit', () => service.kill());
      for (const child of [keycloak, service]) child.once('exit', (code) => process.exit(code ?? 1));
    },
  };
}

export default defineConfig({
  plugins: [startServers()],
  server: { host: '127.0.0.1', port: Number(new URL(pageUrl).port), strictPort: true },
  build: { target: 'es2022' },
});
