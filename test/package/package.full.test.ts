/** The packages people install, as they come out of their tarballs. */
import { execFile } from 'node:child_process';
import { globSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { bundle, bundlers } from './bundle.ts';
import { buildPackages, installAll, packageNames, withTools } from './installed.ts';
import type { Built, Project } from './installed.ts';
import { supportedNodes } from '../programs/npm-program.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

const stack = new AsyncDisposableStack();
let built: Built;
let project: Project;
beforeAll(async () => {
  built = stack.use(await buildPackages('packages', 'service'));
  project = await installAll(built, ['@types/node', '@types/react', 'react']);
  stack.defer(() => project.remove());
});
afterAll(() => stack.disposeAsync());

/** An empty folder, with this package alone. */
async function alone(name: string): Promise<{ folder: string; home: string; installed: string[] }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-alone-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { manifest } = built.packageOf(name);
  await built.install(folder, [manifest.name]);
  return { folder, home: path.join(folder, 'node_modules', manifest.name), installed: placesIn(folder) };
}

function placesIn(folder: string): string[] {
  const { packages } = readJson<{ packages: object }>(path.join(folder, 'package-lock.json'));
  return Object.keys(packages).filter((place) => place !== '');
}

function megabytesOf(folder: string, places: string[]): number {
  const sizes = places.map((place) => {
    const files = globSync('**/*', {
      cwd: path.join(folder, place),
      exclude: ({ name }) => name === 'node_modules',
      withFileTypes: true,
    });
    const bytes = files.map((file) =>
      file.isFile() ? lstatSync(path.join(file.parentPath, file.name)).size : 0,
    );
    return bytes.reduce((sum, size) => sum + size, 0);
  });
  return sizes.reduce((sum, size) => sum + size, 0) / 1e6;
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8')) as Content;
}

describe('from a registry, by its name alone', () => {
  const most = { client: 10, init: 10, kit: 30, program: 35, tools: 10, widget: 10 };

  test.each(packageNames)('%s is small, without Temporal, and runs with Node 22 and 24', async (name) => {
    const { folder, home, installed } = await alone(name);
    const { manifest } = built.packageOf(name);
    expect(installed.filter((place) => place.includes('temporal'))).toEqual([]);
    expect(megabytesOf(folder, installed)).toBeLessThan(most[name]);
    // Those that need what their user chooses are tried beside it.
    const doors = Object.keys(manifest.exports).filter((door) => !['./react', './vitest'].includes(door));
    const code = doors.map((door) => `await import('${path.posix.join(manifest.name, door)}');`).join('\n');
    for (const node of await supportedNodes()) {
      await run(node, ['--input-type=module', '--eval', code], { cwd: folder });
      for (const file of Object.values(manifest.bin ?? {})) {
        const { stdout } = await run(node, [path.join(home, file), '--help'], { cwd: folder });
        expect(stdout).toContain('Usage:');
      }
    }
  });

  test('the service adds at most 120 MB to Temporal’s SDK, and runs with Node 22 and 24', async () => {
    const { folder, home, installed } = await alone('service');
    const { dependencies } = built.packageOf('service').manifest;
    const sdk = path.join(folder, 'sdk');
    const wanted = Object.entries(dependencies).flatMap(([name, version]) =>
      name.startsWith('@temporalio/') ? [`${name}@${version}`] : [],
    );
    expect(wanted.length).toBeGreaterThan(3);
    await built.install(sdk, wanted, '--package-lock-only');
    const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/'));
    const ofSdk = new Set(placesIn(sdk).map(nameOf));
    expect(ofSdk.size).toBeGreaterThan(50);
    const ours = installed.filter((place) => !ofSdk.has(nameOf(place)));
    expect(megabytesOf(folder, ours)).toBeLessThan(120);
    expect(installed.filter((place) => place.includes('@opentelemetry/'))).toEqual([
      'node_modules/@opentelemetry/api',
    ]);

    const program = path.join(home, 'src/cli/interlude.mjs');
    const env = {
      ...process.env,
      INTERLUDE_CONFIG: path.join(home, 'demo/agents.yaml'),
      INTERLUDE_DATA: folder,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    };
    for (const node of await supportedNodes()) {
      const { stdout, stderr } = await run(node, [program, '--version'], { cwd: folder });
      expect([stdout, stderr]).toEqual([expect.stringContaining(packageJson.version), '']);
      const lacking = await run(node, [program, 'start'], { cwd: folder, env }).catch(
        (error: unknown) => error,
      );
      expect(lacking).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /OpenTelemetry is not installed. Run: npm install @opentelemetry\/\S+@\d/,
        ),
      });
    }
    const tooOld =
      "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '22.18.0' })";
    const refused = await run(process.execPath, ['--import', tooOld, program, 'start'], {
      cwd: folder,
    }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Interlude needs Node 22\.19 or newer, and this is /),
    });
  });
});

test.each(Object.entries(bundlers))(
  '%s bundles the client, the tools and the widget for a page',
  async (_, bundled) => {
    const entry = path.join(project.folder, 'everything.mjs');
    writeFileSync(
      entry,
      `import { createClient, InterludeError } from '@interlude-ai/client';
import { createInterlude } from '@interlude-ai/client/ai-sdk';
import { StreamEventSchema } from '@interlude-ai/client/contract';
import { defineTool } from '@interlude-ai/tools';
import { InterludeChat } from '@interlude-ai/widget/react';
import '@interlude-ai/widget';
import { z } from 'zod';
const tool = defineTool({ name: 'a', description: 'A.', input: z.object({}), run: () => 'done' });
const made = [createClient({ baseUrl: 'http://127.0.0.1:9', token: '' }), createInterlude({ baseURL: 'http://127.0.0.1:9', token: '' }), StreamEventSchema, InterludeError, InterludeChat, tool];
console.log(made.every((one) => one) ? 'whole' : 'broken');
`,
    );
    const file = path.join(project.folder, 'bundled.mjs');
    writeFileSync(file, await bundled(entry));
    const { stdout } = await run(process.execPath, [file], { cwd: tmpdir() });
    expect(stdout).toBe('whole\n');
  },
);

test.each(packageNames)('%s has its exports and what they reach, and nothing of the service', (name) => {
  const { files, manifest } = project.packages[name];
  for (const { types, default: code } of Object.values(manifest.exports))
    expect(files).toEqual(expect.arrayContaining([path.join(types), path.join(code)]));
  const folders = new Set(files.map((file) => file.split('/')[0]));
  const others = {
    client: ['core'],
    init: ['core', 'kit', 'templates'],
    kit: ['core', 'client'],
    program: ['core', 'client', 'kit', 'tools'],
    tools: ['core'],
    widget: ['core', 'client'],
  };
  const pages = { client: ['ai-sdk.md'], init: [], kit: [], program: [], tools: [], widget: [] };
  expect([...folders].toSorted()).toEqual(
    ['LICENSE', 'README.md', 'package.json', name, ...others[name], ...pages[name]].toSorted(),
  );
});

test('they need few packages', () => {
  const needed = Object.entries(project.packages).map(([name, { manifest }]) => [
    name,
    Object.keys(manifest.dependencies),
    manifest.peerDependencies,
    Object.keys(manifest.peerDependenciesMeta),
  ]);
  expect(needed).toEqual([
    ['client', ['@ai-sdk/provider', '@types/json-schema', 'eventsource-parser', 'zod'], {}, []],
    ['init', ['@bomb.sh/tab', '@clack/prompts', '@commander-js/extra-typings', 'commander'], {}, []],
    [
      'kit',
      [
        '@bomb.sh/tab',
        '@clack/prompts',
        '@commander-js/extra-typings',
        '@modelcontextprotocol/client',
        'commander',
        'eventsource-parser',
        'undici',
        'yaml',
        'zod',
      ],
      { vitest: '>=5' },
      ['vitest'],
    ],
    [
      'program',
      [
        '@agentclientprotocol/sdk',
        '@bomb.sh/tab',
        '@clack/prompts',
        '@commander-js/extra-typings',
        '@modelcontextprotocol/client',
        'commander',
        'eventsource-parser',
        'jose',
        'openid-client',
        'undici',
        'ws',
        'yaml',
        'zod',
      ],
      { rolldown: '^1.2.19' },
      ['rolldown'],
    ],
    // An author's schemas are made with the same zod as the types of `elicit`.
    ['tools', [], { zod: '^4.0.0' }, []],
    ['widget', ['zod'], { react: '>=18' }, ['react']],
  ]);
});

describe('the program', () => {
  const interlude = (...words: string[]) =>
    run('npx', ['--no', '--', 'interlude', ...words], { cwd: project.folder, env: withTools() }).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, said: stderr }),
    );

  test('lists the commands of the clients', async () => {
    const { code, said } = await interlude('--help');
    expect([code, said]).toEqual([0, expect.stringMatching(/^ {2}chat /m)]);
    expect(said).not.toContain('make-current');
  });

  test('names the Node that it needs before it loads anything else', async () => {
    const version = "{ configurable: true, value: '22.18.0' }";
    const older = `data:text/javascript,Object.defineProperty(process.versions, 'node', ${version})`;
    const words = [
      '--import',
      older,
      path.join(project.packages.program.home, 'program/index.js'),
      'try',
      'http://127.0.0.1:9',
    ];
    const ended = await run(process.execPath, words).catch((error: unknown) => error);
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Interlude needs Node 22\.19 or newer, and this is v\S+: install a newer one from \S+ or with your version manager\.\n$/,
      ),
    });
  });

  test('runs one of them', async () => {
    const { code, said } = await interlude('chat', '--url', 'http://127.0.0.1:9', '--token', 'none');
    expect([code, said]).toEqual([
      1,
      expect.stringContaining('Interlude does not answer at http://127.0.0.1:9'),
    ]);
  });

  test('of the kit has its commands alone, under its own name', async () => {
    const { stdout } = await run('npx', ['--no', '--', 'interlude-kit', '--help'], {
      cwd: project.folder,
      env: withTools(),
    });
    expect(stdout).toContain('Usage: npx interlude-kit [options] [command]');
    expect([...stdout.matchAll(/^ {2}([a-z]\S+) /gm)].map(([, name]) => name)).toEqual([
      'try',
      'lint-server',
      'replay',
      'completion',
      'help',
    ]);
  });

  test('says where the commands of the service are', async () => {
    expect(await interlude('--help')).toEqual({
      code: 0,
      said: expect.stringContaining('operated by more commands, by the package @interlude-ai/service'),
    });
    expect(await interlude('start')).toEqual({
      code: 2,
      said: expect.stringContaining("unknown command 'start'\n(npx interlude --help"),
    });
  });
});

const strict = {
  target: 'es2024',
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
};

/** What the compiler has to say about these files of the project. */
async function complaints(files: string[], options: object): Promise<string> {
  const config = path.join(project.folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...strict, ...options }, files }));
  return run('tsc', ['-p', config], { cwd: project.folder, env: withTools() }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

/** What the compiler takes most time for is the libraries, so each combination of them is compiled once. */
const inBrowser = { lib: ['es2024', 'dom'], types: [], module: 'esnext', moduleResolution: 'bundler' };
const inNode = { lib: ['es2024'], types: ['node'], module: 'nodenext', moduleResolution: 'nodenext' };

describe('its types hold under the strictest settings', () => {
  test('in a browser project with a bundler, the element’s without React; and what is wrong is found', async () => {
    writeFileSync(
      path.join(project.folder, 'wrong.ts'),
      "import { createClient } from '@interlude-ai/client';\ncreateClient({ baseUrl: 1, token: 't' });\n",
    );
    const said = await complaints(['types.ts', 'tools.ts', 'element.ts', 'wrong.ts'], inBrowser);
    expect(said.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      expect.stringMatching(/wrong\.ts.*Type 'number' is not assignable/),
    ]);
  });

  test('in a React project', async () => {
    expect(await complaints(['widget.tsx'], { ...inBrowser, jsx: 'react-jsx' })).toBe('');
  });

  test('in a Node project, and so do the examples of its page', async () => {
    const page = readFileSync(path.join(root, 'docs/client.md'), 'utf8');
    const [first = '', ...examples] = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(
      ([, code = '']) => code,
    );
    expect(examples.length).toBeGreaterThan(4);
    const files = examples.map((code, index) => {
      const name = `example-${index}.ts`;
      const imports = code.split('\n').filter((line) => line.startsWith('import '));
      const rest = code.split('\n').filter((line) => !line.startsWith('import '));
      const body = `${imports.join('\n')}\n${first}\n{\n${rest.join('\n')}\n}\n`;
      writeFileSync(path.join(project.folder, name), body);
      return name;
    });
    writeFileSync(
      path.join(project.folder, 'kit.ts'),
      "export * from '@interlude-ai/kit';\nimport '@interlude-ai/kit/vitest';\n",
    );
    expect(await complaints(['types.ts', 'tools.ts', 'kit.ts', ...files], inNode)).toBe('');
  });
});

test('only the React component knows of React', () => {
  const { home } = project.packages.widget;
  const files = globSync('**/*.{js,d.ts}', { cwd: home }).filter((name) =>
    /\b(?:from|import)\s*\(?\s*["'](?:p?react)\b/.test(readFileSync(path.join(home, name), 'utf8')),
  );
  expect(files.toSorted()).toEqual(['widget/react.d.ts', 'widget/react.js']);
});

test('a page that imports the widget for its element alone has it in its bundle, and all of it', async () => {
  const entry = path.join(project.folder, 'element-only.mjs');
  writeFileSync(entry, "import '@interlude-ai/widget';\n");
  const { code, modules } = await bundle(entry);
  expect(code).toContain('interlude-chat');
  expect(modules.map((file) => path.relative(project.folder, file)).toSorted()).toEqual([
    'element-only.mjs',
    'node_modules/@interlude-ai/widget/widget/interlude-chat.js',
  ]);
});

test('a page that uses the client loads little, and no zod', async () => {
  const { code, modules } = await bundle(path.join(project.folder, 'page.mjs'));
  const packages = modules.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  expect([...new Set(packages)].toSorted()).toEqual(['@interlude-ai/client', 'eventsource-parser']);
  const kilobytes = gzipSync(code, { level: 9 }).length / 1000;
  // The page says "about 9 KB".
  expect(kilobytes).toBeLessThan(9.4);
  expect(kilobytes).toBeGreaterThan(3);
});
