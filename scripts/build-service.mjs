/**
 * Builds the package of the service with its program: `node scripts/build-service.mjs [folder]`. It has the layout of the
 * checkout, as JavaScript, because Node strips no types below `node_modules`; pages and workflows are bundled.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { bundle, bundles, filesOf } from '../src/api/http/bundle.ts';
import { scope, withRelativeImports } from './relative-imports.mjs';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.resolve(process.argv[2] ?? path.join(root, 'dist/service'));

/** Agents' tools stay as their authors wrote them. */
const sources = globSync(['src/**/*.ts', 'src/cli/*.mjs', 'packages/*/src/**/*.ts', 'demo/**/*.ts'], {
  cwd: root,
}).filter((file) => !/^demo\/desk\/tools\/|^src\/api\/pages\/playground\/|^packages\/widget\//.test(file));
const compiled = new Set(sources);
const copied = [
  'src/**/*.js',
  'demo/agents.yaml',
  'demo/*/picture.svg',
  'docs/agents.schema.json',
  'demo/desk/tools/**/*.ts',
  'scripts/setup/*.mjs',
  'scripts/temporal-cli/*',
  'LICENSE',
];

/** Defines what Node 22 lacks. */
const additions = 'src/node-22.js';

// Inside the checkout, where Node finds the packages that the workflows are bundled with.
mkdirSync(path.join(root, 'build'), { recursive: true });
const work = mkdtempSync(path.join(root, 'build/service-'));
try {
  for (const file of sources) compile(file);
  for (const file of globSync(copied, { cwd: root })) cpSync(path.join(root, file), path.join(work, file));
  cpSync(path.join(root, 'scripts/node-22.js'), path.join(work, additions));
  const { manifest } = published();
  writeFileSync(path.join(work, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await bundlePages();
  bundleWorkflows();
  declare('src/agent-tests/index');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(path.dirname(folder), { recursive: true });
  cpSync(work, folder, { recursive: true });
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** @param {string} file */
function compile(file) {
  const code = withRelativeImports(readFileSync(path.join(root, file), 'utf8'), file);
  const script = file.endsWith('.ts') ? stripTypeScriptTypes(code) : code;
  const stripped = script.replaceAll(
    /(['"])((?:\.{1,2}\/|src\/|packages\/)[\w./-]+)\.ts\1/g,
    (text, quote, address) => {
      const place = address.startsWith('.')
        ? path.posix.join(path.posix.dirname(file), `${address}.ts`)
        : `${address}.ts`;
      return compiled.has(place) ? `${quote}${address}.js${quote}` : text;
    },
  );
  const to = path.join(work, file.replace(/\.ts$/, '.js'));
  mkdirSync(path.dirname(to), { recursive: true });
  writeFileSync(to, forNode22(stripped, file));
}

/** Without `using`, and with what it needs. @param {string} code @param {string} file */
function forNode22(code, file) {
  // Where a type was, there are spaces.
  const lowered = /\busing\s+[\w$]+\s*=/.test(code) ? transformSync(code, { target: 'node22' }).code : code;
  // Loaded after the check of the version, before all else.
  if (file === 'src/cli/start-program.mjs')
    return lowered.replace('\nimport ', "\nimport '../node-22.js';\nimport ");
  if (!lowered.includes('DisposableStack')) return lowered;
  const address = path.posix.relative(path.posix.dirname(file), additions);
  return `import '${address.startsWith('.') ? address : `./${address}`}';\n${lowered}`;
}

async function bundlePages() {
  for (const name of /** @type {(keyof typeof bundles)[]} */ (Object.keys(bundles))) {
    const { code, licenses } = await bundle(name);
    const files = filesOf(name);
    write(path.relative(root, files.code), code);
    write(path.relative(root, files.licenses), licenses);
  }
}

/** @param {string} file @param {string} text */
function write(file, text) {
  mkdirSync(path.dirname(path.join(work, file)), { recursive: true });
  writeFileSync(path.join(work, file), text);
}

/** By the compiled code itself, so that what it finds is what it expects. */
function bundleWorkflows() {
  const script = [
    "const { readTurnCode } = await import('./src/platform/processes/workers/turn-code.js');",
    "const { joinWithSdk } = await import('./src/platform/temporal/join-sdk.js');",
    'await joinWithSdk(await readTurnCode());',
  ].join('\n');
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: work,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('The workflows could not be bundled.');
}

/** Writes the types of an exported module, and of what it reaches. @param {string} entry */
function declare(entry) {
  const declared = path.join(work, 'declared');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noCheck: true,
    allowJs: false,
    checkJs: false,
    rootDir: root,
    outDir: declared,
  };
  // Packages are named: the compiler writes no types of what it finds by its links in `node_modules`.
  const include = ['core', 'client'].map((name) => path.join(root, 'packages', name, 'src'));
  const files = [path.join(root, `${entry}.ts`)];
  const config = path.join(work, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, files, include }));
  const { status } = spawnSync('tsc', ['-p', config], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('The types could not be written.');
  const open = [entry];
  const written = new Set();
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (written.has(module)) continue;
    written.add(module);
    const code = readFileSync(path.join(declared, `${module}.d.ts`), 'utf8');
    const folder = path.posix.dirname(module);
    write(
      `${module}.d.ts`,
      withRelativeImports(code, module).replaceAll(
        /(['"])(\.{1,2}\/[\w./-]+)\.ts\1/g,
        (_, quote, address) => {
          open.push(path.posix.join(folder, address));
          return `${quote}${address}.js${quote}`;
        },
      ),
    );
  }
  rmSync(declared, { recursive: true });
  rmSync(config);
}

function published() {
  const { version, description, license, optionalDependencies, ...own } = readManifest('.');
  const packages = ['core', 'client', 'tools', 'kit', 'program'].map((name) =>
    readManifest(`packages/${name}`),
  );
  const forDemo = ['oidc-provider', '@modelcontextprotocol/node'];
  const dependencies = Object.fromEntries(
    [own, ...packages]
      .flatMap((manifest) => Object.entries(manifest.dependencies ?? {}))
      .concat(forDemo.map((name) => [name, own.devDependencies[name]]))
      .filter(([name]) => !name.startsWith(`${scope}/`))
      .toSorted(([one], [other]) => one.localeCompare(other)),
  );
  const [chosen, needed] = [true, false].map((isChosen) =>
    Object.entries(dependencies).filter(([name]) => isTelemetry(name) === isChosen),
  );
  const optional = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@nangohq/'));
  return {
    manifest: {
      name: `${scope}/service`,
      version,
      description,
      license,
      type: 'module',
      bin: { interlude: 'src/cli/interlude.mjs' },
      exports: {
        './package.json': './package.json',
        './testing': { types: './src/agent-tests/index.d.ts', default: './src/agent-tests/index.js' },
      },
      dependencies: Object.fromEntries(needed ?? []),
      optionalDependencies: Object.fromEntries(optional),
      peerDependencies: Object.fromEntries((chosen ?? []).map(([name, version]) => [name, `^${version}`])),
      peerDependenciesMeta: Object.fromEntries((chosen ?? []).map(([name]) => [name, { optional: true }])),
      // The first with `process.threadCpuUsage`.
      engines: { node: '>=22.19' },
    },
  };
}

/** OpenTelemetry without its API: loaded where variables OTEL_… are set, and as large as a quarter of the rest. @param {string} name */
function isTelemetry(name) {
  return name.startsWith('@opentelemetry/') && name !== '@opentelemetry/api';
}

/** @param {string} place */
function readManifest(place) {
  return JSON.parse(readFileSync(path.join(root, place, 'package.json'), 'utf8'));
}
