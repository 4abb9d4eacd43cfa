/** The packages people install, as they come out of their tarballs. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from './bundle.ts';
import { installPackages, packageNames, withTools } from './installed.ts';
import type { Project } from './installed.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

let project: Project;
beforeAll(async () => {
  project = await installPackages(['@types/node', 'undici-types', '@types/react', 'csstype']);
}, 120_000);
afterAll(() => project.remove());

test.each(packageNames)('%s has its exports and what they reach, and nothing of the service', (name) => {
  const { files, manifest } = project.packages[name];
  for (const { types, default: code } of Object.values(manifest.exports))
    expect(files).toEqual(expect.arrayContaining([path.join('package', types), path.join('package', code)]));
  const folders = new Set(files.map((file) => file.split('/')[1]));
  const others = {
    client: ['core'],
    kit: ['core', 'client'],
    program: ['core', 'client', 'kit', 'tools'],
    tools: ['core'],
    widget: ['core', 'client'],
  };
  const pages = { client: ['ai-sdk.md'], kit: [], program: [], tools: [], widget: [] };
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
    ['client', ['@ai-sdk/provider', 'eventsource-parser', 'zod'], {}, []],
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
    const version = "{ configurable: true, value: '20.20.2' }";
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
        /^Interlude needs Node 22 or newer, and this is v\S+: install a newer one from \S+ or with your version manager\.\n$/,
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
      said: expect.stringContaining('The service is run, and operated by more commands, in its checkout'),
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
    expect(await complaints(['types.ts', 'tools.ts', ...files], inNode)).toBe('');
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
