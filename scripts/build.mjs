/**
 * Builds the packages people install, each complete, into folders of their own: `node scripts/build.mjs [folder]`. A package
 * contains the files of other packages that it reaches, so none depends on another. Its dependencies are what its files import.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { bundle, licensesName } from '../src/api/http/bundle.ts';
import { withRelativeImports } from './relative-imports.mjs';

/**
 * @typedef {{ name: string, version: string, description: string, license: string, type: string, engines: object,
 *   bin?: Record<string, string>, exports: Record<string, string>, dependencies?: Record<string, string> }} Manifest
 */

const root = path.resolve(import.meta.dirname, '..');
const folder = path.resolve(process.argv[2] ?? path.join(root, 'dist'));

/** The pages that go with each package; the first is its README. */
const pages = {
  client: ['client.md', 'ai-sdk.md'],
  init: ['dev.md'],
  kit: ['testing-servers.md'],
  program: ['client.md'],
  tools: ['tools.md'],
  widget: ['widget.md'],
};

/**
 * What its user chooses: the React of the page, a bundler for `tools check`, and vitest for its matchers.
 * @type {Record<string, { range: string, optional: boolean }>}
 */
const peers = {
  react: { range: '>=18', optional: true },
  rolldown: { range: `^${versionOf('rolldown')}`, optional: true },
  vitest: { range: '>=5', optional: true },
};
/** An author's schemas are made with the same zod as the types of `elicit`. */
const zodOfAuthors = { zod: { range: '^4.0.0', optional: false } };

/** Types that those of a dependency import, without depending on them. @type {Record<string, string>} */
const typings = { '@ai-sdk/provider': '@types/json-schema' };

/**
 * What a package loads by its address: `tools check` bundles it with the author's code.
 * @type {Record<string, string[]>}
 */
const loaded = { program: ['tools/src/index'] };

/**
 * What the compiler has to know about each: those for browsers may use nothing of Node, and their types hold without
 * `skipLibCheck`.
 */
const projects = {
  browser: {
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
    skipLibCheck: false,
    files: ['client', 'tools', 'widget'].flatMap(exportsOf),
  },
  node: {
    lib: ['es2024', 'esnext.disposable', 'dom'],
    types: ['node'],
    skipLibCheck: true,
    files: exportsOf('kit'),
  },
  // Programs, whose modules nothing imports.
  program: {
    lib: ['es2024', 'esnext.disposable', 'dom'],
    types: ['node'],
    skipLibCheck: true,
    declaration: false,
    files: ['init', 'kit', 'program'].flatMap(programsOf),
  },
};

/** In code and in declarations, where the compiler leaves them as they are. */
const specifiers = /(\b(?:from|import)\s*\(?\s*["'])([\w@.][\w@./:-]*)(["'])/g;

// Inside the checkout, where the compiler finds the libraries.
mkdirSync(path.join(root, 'build'), { recursive: true });
const work = mkdtempSync(path.join(root, 'build/packages-'));
const compiled = path.join(work, 'compiled');
try {
  copySources();
  for (const [name, { files, ...compilerOptions }] of Object.entries(projects))
    compile(name, files, compilerOptions);
  for (const [name, docs] of Object.entries(pages)) await build(name, docs);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The compiler rewrites relative addresses only, so those of packages become relative first. */
function copySources() {
  for (const file of globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })) {
    const place = path.join(work, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, withRelativeImports(readFileSync(path.join(root, file), 'utf8'), file));
  }
}

/** @param {string} name @param {string[]} files @param {object} compilerOptions */
function compile(name, files, compilerOptions) {
  const config = path.join(work, `tsconfig.${name}.json`);
  const emit = {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    allowJs: false,
    checkJs: false,
  };
  writeFileSync(
    config,
    JSON.stringify({
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions: { ...emit, ...compilerOptions, rootDir: 'packages', outDir: compiled },
      files,
      include: [],
    }),
  );
  const { status } = spawnSync('tsc', ['-p', config], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('The packages do not compile.');
}

/** The modules that a package exports. @param {string} name */
function exportsOf(name) {
  const { exports } = readManifest(path.join(root, 'packages', name));
  const files = Object.values(exports).filter((file) => !file.includes('*'));
  return files.map((file) => path.posix.join('packages', name, file));
}

/** The modules that it runs. @param {string} name */
function programsOf(name) {
  const { bin = {} } = readManifest(path.join(root, 'packages', name));
  return Object.values(bin).map((file) => path.posix.join('packages', name, file));
}

/** @param {string} name @param {string[]} docs */
async function build(name, docs) {
  const to = path.join(folder, name);
  rmSync(to, { recursive: true, force: true });
  const manifest = readManifest(path.join(root, 'packages', name));
  const entries = Object.entries(manifest.exports).filter(([door]) => !door.includes('*'));
  const files = [...entries.map(([, file]) => file), ...Object.values(manifest.bin ?? {})];
  /** @type {Set<string>} */
  const packages = new Set();
  /** Modules by their place in `compiled`, without extension. */
  const copied = new Set();
  const open = [...files.map((file) => moduleOf(path.posix.join(name, file))), ...(loaded[name] ?? [])];
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (copied.has(module)) continue;
    copied.add(module);
    for (const extension of entries.length > 0 ? ['.js', '.d.ts'] : ['.js']) {
      const file = path.join(compiled, module + extension);
      if (!existsSync(file)) continue;
      const code = readFileSync(file, 'utf8').replaceAll(specifiers, (text, before, specifier, after) => {
        const target = targetOf(specifier, module);
        if (target === undefined) {
          if (!specifier.startsWith('node:'))
            for (const one of [nameOf(specifier), typings[nameOf(specifier)] ?? []].flat()) packages.add(one);
          return text;
        }
        open.push(target);
        // From one package's folder to another's, there is no `src`.
        const address = path.posix.relative(path.posix.dirname(placeOf(module)), placeOf(target));
        return `${before}${address.startsWith('.') ? address : `./${address}`}.js${after}`;
      });
      const place = path.join(to, placeOf(module) + extension);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, code);
    }
  }
  if (name === 'widget') {
    // Self-contained, so that it needs no dependencies. The types of its element are beside it.
    const { code, licenses } = await bundle('widget.js');
    writeFileSync(path.join(to, 'widget/interlude-chat.js'), code);
    writeFileSync(path.join(to, 'widget', licensesName('widget.js')), licenses);
  }
  if (name === 'init')
    cpSync(path.join(root, 'packages/init/templates'), path.join(to, 'templates'), { recursive: true });
  copyFileSync(path.join(root, 'LICENSE'), path.join(to, 'LICENSE'));
  docs.forEach((page, index) =>
    copyFileSync(path.join(root, 'docs', page), path.join(to, index === 0 ? 'README.md' : page)),
  );
  writeFileSync(
    path.join(to, 'package.json'),
    `${JSON.stringify(published(manifest, { name, entries, packages }), null, 2)}\n`,
  );
}

/**
 * @param {Manifest} manifest
 * @param {{ name: string, entries: [string, string][], packages: Set<string> }} built
 */
function published(
  { name: fullName, version, description, license, type, engines, bin },
  { name, entries, packages },
) {
  const place = (/** @type {string} */ file) => `./${placeOf(moduleOf(path.posix.join(name, file)))}`;
  const names = [...packages].toSorted((one, other) => one.localeCompare(other));
  const chosen = name === 'tools' ? { ...peers, ...zodOfAuthors } : peers;
  const needed = Object.entries(chosen).filter(([one]) => packages.has(one));
  return {
    name: fullName,
    version,
    description,
    license,
    type,
    ...(bin && {
      bin: Object.fromEntries(Object.entries(bin).map(([one, file]) => [one, `${place(file)}.js`])),
    }),
    // These are imported for what they do: define the element, extend `expect`.
    sideEffects: ['./widget/interlude-chat.js', './kit/vitest.js'].filter((file) =>
      file.startsWith(`./${name}/`),
    ),
    exports: Object.fromEntries(
      entries.map(([door, file]) => [door, { types: `${place(file)}.d.ts`, default: `${place(file)}.js` }]),
    ),
    dependencies: Object.fromEntries(
      names.filter((one) => !(one in chosen)).map((one) => [one, `^${versionOf(one)}`]),
    ),
    peerDependencies: Object.fromEntries(needed.map(([one, { range }]) => [one, range])),
    peerDependenciesMeta: Object.fromEntries(
      needed.flatMap(([one, { optional }]) => (optional ? [[one, { optional }]] : [])),
    ),
    engines,
  };
}

/** The module of ours that a specifier leads to. @param {string} specifier @param {string} from */
function targetOf(specifier, from) {
  return specifier.startsWith('.')
    ? moduleOf(path.posix.join(path.posix.dirname(from), specifier))
    : undefined;
}

/** @param {string} file */
function moduleOf(file) {
  return path.posix.normalize(file).replace(/\.(?:d\.ts|tsx?|js)$/, '');
}

/** In a built package, without the folder `src`. @param {string} module */
function placeOf(module) {
  return module.replace(/^([^/]+)\/src\//, '$1/');
}

/** @param {string} specifier */
function nameOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** @param {string} one @returns {Manifest} */
function readManifest(one) {
  return JSON.parse(readFileSync(path.join(one, 'package.json'), 'utf8'));
}

/** Of a dependency; the checkout pins it, and users may have a newer one. @param {string} one */
function versionOf(one) {
  const manifests = [
    root,
    ...['client', 'core', 'kit', 'program', 'tools'].map((name) => path.join(root, 'packages', name)),
  ];
  const pinned = manifests
    .map((file) => readManifest(file).dependencies?.[one])
    .find((found) => found !== undefined);
  if (pinned === undefined) throw new Error(`A package imports ${one}, which is not among the dependencies.`);
  return pinned;
}
