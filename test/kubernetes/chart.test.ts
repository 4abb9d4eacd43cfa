/** The Helm chart without Helm: its values, and the settings that it gives to the processes. `chart.release.test.ts` renders it. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { environmentVariables } from '../../src/platform/config/environment.ts';
import { loadConfig, loadDatabase } from '../../src/platform/config/load-config.ts';
import { needsOf } from '../../src/platform/config/environment.ts';

const chart = path.resolve(import.meta.dirname, '../../deploy/helm/interlude');
const read = (file: string) => readFileSync(path.join(chart, file), 'utf8');
type Values = Record<string, unknown>;
const defaults = parse(read('values.yaml')) as Values;
const examples = globSync('values/*.yaml', { cwd: import.meta.dirname }).toSorted();
const example = (file: string) => parse(readFileSync(path.join(import.meta.dirname, file), 'utf8')) as Values;
const validate = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object);
const pod = read('templates/_helpers.tpl');

/** As Helm does it before it validates: the members of an object replace those of the default. */
function merged(values: Values, onto = defaults): Values {
  const isObject = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = Object.entries(values).map(([name, value]) => {
    const before = onto[name];
    return [name, isObject(value) && isObject(before) ? merged(value, before) : value];
  });
  return { ...onto, ...Object.fromEntries(entries) } as Values;
}

/** The variables of a pod, for the values of an example that uses none of the switches. */
function environment(values: Values): Record<string, string> {
  const at = (name: string) =>
    name.split('.').reduce<unknown>((value, member) => (value as Values)[member], values);
  const given = [...pod.matchAll(/^ +- \{ name: ([A-Z_]+), value: (.+) \}$/gm)].map(
    ([, name, value = '']) => [
      name,
      value
        .replaceAll(/\{\{ \$root\.Values\.([\w.]+)[^}]*\}\}/g, (_, member: string) => String(at(member)))
        .replaceAll(/\{\{ include "interlude\.deployment" [^}]*\}\}/g, String(at('temporal.taskQueue')))
        .replaceAll('"', ''),
    ],
  );
  return Object.fromEntries(given) as Record<string, string>;
}

const secrets = {
  DATABASE_URL: 'postgres://interlude@postgres/interlude',
  INTERLUDE_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};
const agentsFile = path.resolve(import.meta.dirname, '../fixtures/compose-agents.yaml');

test('the examples follow the schema of the values', () => {
  expect(examples.length).toBeGreaterThan(2);
  for (const file of examples) {
    validate(merged(example(file)));
    expect(validate.errors ?? [], file).toEqual([]);
  }
});

test('values without what the service requires are refused', () => {
  const usual = merged(example('values/usual.yaml'));
  expect(validate(defaults)).toBe(false);
  for (const [name, wrong] of [
    ['publicUrl', ''],
    ['agents', { text: '', configMap: { name: '', key: 'agents.yaml' } }],
    ['temporal', { address: 'temporal' }],
    ['auth', { issuer: 'https://login.example.com', clientId: '' }],
    ['secrets', { DATABASE_URL: { name: 'interlude', key: 'url' } }],
    ['worker', { replicas: 0 }],
    ['replicas', 2],
  ] as const)
    expect(validate({ ...usual, [name]: wrong }), name).toBe(false);
  const scaledTwice = { keda: { enabled: true }, workerController: { enabled: true } };
  expect(validate({ ...usual, ...scaledTwice })).toBe(false);
});

test('the processes start with the settings that the chart gives them, and no setting is unknown', () => {
  const env = environment(merged(example('values/usual.yaml')));
  expect(Object.keys(env).filter((name) => !environmentVariables.includes(name))).toEqual([]);
  const all = { ...env, ...secrets, INTERLUDE_CONFIG: agentsFile };
  for (const needs of [needsOf.server, needsOf.worker]) {
    const config = loadConfig(all, chart, needs);
    expect(config.http).toMatchObject({ host: '0.0.0.0', publicUrl: 'https://interlude.example.com' });
    expect(config.internal).toEqual({ host: '0.0.0.0', port: 3100 });
    expect(config.temporal).toMatchObject({
      address: 'temporal.temporal.svc:7233',
      deployment: { name: 'interlude' },
    });
    expect(config.auth).toMatchObject({ client: { id: 'interlude-connect' } });
    // The process itself waits 15 seconds more.
    expect(config.shutdownGraceMs).toBe(60_000);
    expect(pod).toContain('terminationGracePeriodSeconds: {{ add $root.Values.shutdownGraceSeconds 25 }}');
  }
  // The job has no agents file.
  expect(loadDatabase({ ...env, ...secrets }, chart)).toMatchObject({ kind: 'postgres' });
});

test('the name that the Worker Controller gives to a deployment is accepted', () => {
  const env = { ...environment(merged(example('values/usual.yaml'))), ...secrets };
  const controlled = {
    TEMPORAL_DEPLOYMENT_NAME: 'agents/interlude-worker',
    TEMPORAL_WORKER_BUILD_ID: 'v1-2f8e',
  };
  const config = loadConfig({ ...env, ...controlled, INTERLUDE_CONFIG: agentsFile }, chart);
  expect(config.temporal.deployment).toEqual({ name: 'agents/interlude-worker', buildId: 'v1-2f8e' });
});

test('the chart has the version of the package', () => {
  const { version, appVersion } = parse(read('Chart.yaml')) as Record<string, string>;
  expect([version, appVersion]).toEqual([packageJson.version, packageJson.version]);
});
