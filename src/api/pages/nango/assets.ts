/**
 * Serves the script for connecting by Nango and its modules: ours, and Nango's browser library as it ships. The URL has a hash of
 * their content, so that browsers may cache them forever.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { NangoConfig } from '../../../platform/config/config.ts';
import { ProblemError } from '../../http/problems.ts';
import type { PageScript } from '../layout.ts';

const library = '@nangohq/frontend';
/** By name in the URL; nothing else is served. */
const modules: Record<string, () => string> = {
  'connect.js': () => fileURLToPath(new URL('script.js', import.meta.url)),
  'nango/index.js': () => fileURLToPath(import.meta.resolve(library)),
  'nango/authModal.js': () => besideLibrary('authModal.js'),
  'nango/connectUI.js': () => besideLibrary('connectUI.js'),
};

/** Null if the library, which is optional, is not installed. */
export async function nangoAssets(
  fastify: FastifyInstance,
  { publicUrl, nango, logger }: { publicUrl: string; nango: NangoConfig; logger: Logger },
): Promise<PageScript | null> {
  const files = await readModules().catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    logger.warn(
      `${library} is not installed: accounts are connected in the same window, not in one beside it`,
    );
    return null;
  });
  if (!files) return null;

  const content = createHash('sha256');
  for (const [name, text] of files) content.update(`${name}\n${text.length}\n${text}`);
  const version = content.digest('base64url').slice(0, 16);
  const parameters = z.object({ version: z.literal(version), '*': z.string() });
  fastify.get('/auth/assets/:version/*', (request, reply) => {
    const asked = parameters.safeParse(request.params);
    const text = asked.success ? files.get(asked.data['*']) : undefined;
    if (text === undefined) throw new ProblemError('not_found', 'There is no such file.');
    return reply
      .headers({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      })
      .send(text);
  });
  return { src: `${publicUrl}/auth/assets/${version}/connect.js`, connectTo: socketOrigin(nango) };
}

async function readModules(): Promise<Map<string, string>> {
  const read = Object.entries(modules).map(
    async ([name, find]) => [name, await readFile(find(), 'utf8')] as const,
  );
  return new Map(
    (await Promise.all(read)).map(([name, text]) => [
      name,
      // Browsers cannot resolve package names.
      name === 'connect.js' ? text.replace(`'${library}'`, `'./nango/index.js'`) : text,
    ]),
  );
}

function besideLibrary(file: string): string {
  return fileURLToPath(new URL(file, import.meta.resolve(library)));
}

function isMissing(error: unknown): boolean {
  const codes = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ENOENT'];
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** The library's WebSocket for news of its other window. */
function socketOrigin({ publicUrl }: NangoConfig): string {
  const { protocol, host } = new URL(publicUrl);
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}`;
}
