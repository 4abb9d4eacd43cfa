/** The files of a new folder. What does not depend on choices is in `templates/`. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { keyVariableOf, packageOf, serverNameOf } from './choices.ts';
import type { Choices } from './choices.ts';

/** Of this package, in the checkout and where it is installed. */
const home = path.resolve(import.meta.dirname, '..');
const templates = path.join(home, 'templates');
export const own = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  engines: { node: string };
};

/** Throws in a Node that cannot run what the folder has: npm only warns. */
export function requireNode(): void {
  const oldest = own.engines.node.replace(/^\D+/, '');
  if (process.versions.node.localeCompare(oldest, 'en', { numeric: true }) >= 0) return;
  throw new UsageError(
    `Interlude needs Node ${oldest} or newer, and this is v${process.versions.node}: install a newer one from https://nodejs.org or with your version manager. Nothing was written.`,
  );
}

/** A new repository is empty, too. */
const mayBeThere = ['.git', '.DS_Store'];

/** Throws if there is something in the folder. `shown`: as it was typed. */
export async function requireEmpty(folder: string, shown: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw new UsageError(`${shown} is a file. Name a new folder.`);
    throw error;
  });
  const found = names.filter((name) => !mayBeThere.includes(name));
  if (found.length === 0) return;
  const more = found.length > 3 ? ` and ${found.length - 3} more` : '';
  throw new UsageError(
    `${shown} is not empty: it has ${found.slice(0, 3).join(', ')}${more}. Name a new folder, or empty this one. Nothing was written.`,
  );
}

/** `tarballs`: a folder with our packages. */
export async function writeProject(folder: string, choices: Choices, tarballs?: string): Promise<void> {
  const ours = await packagesFrom(tarballs);
  await mkdir(folder, { recursive: true });
  const isScripted = choices.model === 'scripted';
  const entries = await readdir(templates, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile() && (isScripted || one.name !== 'model.js'))) {
    const from = path.join(entry.parentPath, entry.name);
    // npm leaves .gitignore out of packages.
    const to = path.join(folder, path.relative(templates, from).replace(/^(?=(?:git|docker)ignore$)/, '.'));
    await mkdir(path.dirname(to), { recursive: true });
    await copyFile(from, to);
  }
  await writeFile(path.join(folder, 'agents.yaml'), agentsFile(choices));
  await writeFile(path.join(folder, 'package.json'), packageFile(path.basename(folder), choices, ours));
  await writeFile(path.join(folder, '.env'), variables(choices), { mode: 0o600 });
}

const ourNames = ['service', 'tools'] as const;

async function packagesFrom(tarballs: string | undefined): Promise<Record<string, string>> {
  if (tarballs === undefined)
    return Object.fromEntries(ourNames.map((name) => [`@interlude-ai/${name}`, `^${own.version}`]));
  const files = await readdir(tarballs).catch(() => []);
  return Object.fromEntries(
    ourNames.map((name) => {
      const file = files.find((one) => one.startsWith(`interlude-ai-${name}-`) && one.endsWith('.tgz'));
      if (file === undefined)
        throw new UsageError(
          `--packages: there is no interlude-ai-${name}-….tgz in ${tarballs}; make it with npm pack.`,
        );
      return [`@interlude-ai/${name}`, `file:${path.join(tarballs, file)}`];
    }),
  );
}

function packageFile(name: string, { model }: Choices, ours: Record<string, string>): string {
  const ofModel = packageOf(model);
  const written = {
    name:
      name
        .toLowerCase()
        .replaceAll(/[^a-z0-9._-]/g, '-')
        .replace(/^[._-]+/, '') || 'my-agents',
    private: true,
    type: 'module',
    scripts: { dev: 'interlude dev', start: 'interlude start', test: 'interlude test' },
    dependencies: { ...ours, ...(ofModel !== undefined && { [ofModel]: '*' }), zod: '^4.0.0' },
    devDependencies: { '@types/node': '^24.0.0' },
    engines: { node: own.engines.node },
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}

function agentsFile({ model, server }: Choices): string {
  const name = server === 'none' ? undefined : serverNameOf(server);
  const isHere = name !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(server).hostname);
  return [
    '# yaml-language-server: $schema=node_modules/@interlude-ai/service/docs/agents.schema.json',
    ...(model === 'scripted' ? ['providers:', '  scripted: { script: ./model.js }'] : []),
    ...(name === undefined
      ? []
      : [
          'servers:',
          `  ${name}:`,
          `    url: '${server}'`,
          `    credentialScope: ${isHere ? 'none' : 'user'} # user: each connects an account of their own; or project, or none`,
        ]),
    'agents:',
    '  assistant:',
    '    title: Assistant',
    `    model: '${model}'`,
    "    examples: ['Book a table for four.']",
    '    instructions: |',
    '      You help to book tables. Call book_table at once: it asks the user itself for what it needs.',
    '    tools: { folder: ./tools }',
    ...(name === undefined ? [] : [`    servers: [${name}]`]),
    '',
  ].join('\n');
}

function variables({ model, issuer, clientId, key }: Choices): string {
  const variable = keyVariableOf(model);
  return [
    '# Read by interlude in this folder, and by docker compose. Not for a repository.',
    ...(variable === undefined
      ? []
      : [key === undefined ? `#${variable}=` : `${variable}=${JSON.stringify(key)}`]),
    ...(issuer === 'demo'
      ? [
          '# Without them, people sign in as alice or bob, on this machine only.',
          '#AUTH_ISSUER=',
          '#AUTH_CLIENT_ID=',
        ]
      : [`AUTH_ISSUER=${issuer}`, `AUTH_CLIENT_ID=${clientId ?? ''}`]),
    '# Encrypts accounts and answers, which cannot be read without it.',
    `INTERLUDE_KEYS=k1:${randomBytes(32).toString('base64')}`,
    '# For compose.yaml only.',
    `POSTGRES_PASSWORD=${randomBytes(18).toString('hex')}`,
    '',
  ].join('\n');
}
