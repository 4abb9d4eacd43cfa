/**
 * The Helm chart with Helm: rendered and checked against the schemas of every kind, then installed, upgraded and rolled back at
 * a real API server. There are no controllers and no nodes, so no pod ever runs, and the test plays the one that runs jobs.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import {
  customKinds,
  findHelm,
  findKubeconform,
  startKubernetesApi,
  writeSchemas,
} from '../programs/kubernetes.ts';
import type { KubernetesApi } from '../programs/kubernetes.ts';

const { version } = packageJson;
const run = promisify(execFile);
const chart = path.resolve(import.meta.dirname, '../../deploy/helm/interlude');
const valuesOf = (name: string) => path.join(import.meta.dirname, `values/${name}.yaml`);
const buildingMs = 1_500_000;
const names = ['usual', 'everything', 'worker-controller'];

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: Record<string, never> & { replicas?: number; template: { spec: PodSpec } };
}

interface PodSpec {
  containers: { name: string; image: string; env: { name: string; value: string }[] }[];
}

let folder: string;
let helm: string;

const helmOutput = (...options: string[]) =>
  run(helm, options, { env: { ...process.env, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder } });

async function render(name: string): Promise<string> {
  const options = ['--namespace', 'agents', '--kube-version', '1.37.0', '--values', valuesOf(name)];
  return (await helmOutput('template', 'interlude', chart, ...options)).stdout;
}

const manifestsOf = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-chart-'));
  const found = await findHelm();
  if ('missing' in found) throw new Error(found.missing);
  helm = found.executable;
}, buildingMs);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the rendered chart', () => {
  let kubeconform: string;
  let schemas: string;

  beforeAll(async () => {
    const found = await findKubeconform();
    if ('missing' in found) throw new Error(found.missing);
    kubeconform = found.executable;
    schemas = await writeSchemas(path.join(folder, 'schemas'));
  }, buildingMs);

  async function check(text: string): Promise<{ status: string; kind: string; msg: string }[]> {
    const file = path.join(folder, 'rendered.yaml');
    await writeFile(file, text);
    const { stdout } = await run(kubeconform, ['-output', 'json', '-schema-location', schemas, file]).catch(
      (error: { stdout: string }) => error,
    );
    return (JSON.parse(stdout) as { resources: { status: string; kind: string; msg: string }[] }).resources;
  }

  test.each(names)('is valid with the values "%s"', async (name) => {
    const text = await render(name);
    expect(await check(text)).toEqual([]);
    expect(manifestsOf(text).map(({ kind }) => kind)).toContain('Service');
  });

  test('has every kind', async () => {
    const texts = await Promise.all(names.map(render));
    const kinds = new Set(texts.flatMap(manifestsOf).map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual([
      'ConfigMap',
      'Connection',
      'Deployment',
      'Ingress',
      'Job',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'ScaledObject',
      'Service',
      'ServiceMonitor',
      'WorkerDeployment',
    ]);
  });

  test('has its mistakes found', async () => {
    const text = await render('everything');
    for (const [right, wrong] of [
      ['replicas: 2', 'replicas: two'],
      ['readOnlyRootFilesystem', 'readonlyRootFilesystem'],
      ['minReplicaCount: 1', 'minReplicaCount: one'],
      ['interval: 30s', 'interval: 30'],
    ] as const)
      expect(await check(text.replace(right, wrong)), wrong).toMatchObject([{ status: 'statusInvalid' }]);
  });

  test('names secrets and contains none', async () => {
    const pods = manifestsOf(await render('everything')).filter(({ kind }) => kind === 'Deployment');
    for (const { spec } of pods) {
      const { env } = spec.template.spec.containers[0]!;
      const given = env.map(({ name }) => name);
      expect(given).toContain('INTERLUDE_KEYS_FILE');
      expect(given).not.toContain('INTERLUDE_KEYS');
      expect(new Set(given).size).toBe(given.length);
    }
  });

  test('leaves to the Worker Controller what it sets itself', async () => {
    const manifests = manifestsOf(await render('worker-controller'));
    const env = manifests.find(({ kind }) => kind === 'WorkerDeployment')!.spec.template.spec.containers[0]!
      .env;
    expect(env.filter(({ name }) => /^TEMPORAL_(ADDRESS|NAMESPACE|DEPLOYMENT|API)/.test(name))).toEqual([]);
    const api = manifests.find(({ kind }) => kind === 'Deployment')!.spec.template.spec.containers[0]!.env;
    expect(api).toContainEqual({ name: 'TEMPORAL_DEPLOYMENT_NAME', value: 'agents/interlude-worker' });
  });
});

describe('at an API server', () => {
  let api: KubernetesApi;

  beforeAll(async () => {
    const started = await startKubernetesApi(folder);
    if ('missing' in started) throw new Error(started.missing);
    api = started;
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    for (const kind of await customKinds()) await api.request('POST', crds, kind);
    for (const { spec } of await customKinds())
      for (const { name } of spec.versions)
        await vi.waitFor(
          () => api.request('GET', `/apis/${spec.group}/${name}/${spec.names.plural}`),
          30_000,
        );
    await api.request('POST', '/api/v1/namespaces', { metadata: { name: 'agents' } });
    return () => started[Symbol.asyncDispose]();
  }, buildingMs);

  const release = (command: string, ...options: string[]) =>
    helmOutput(command, ...options, '--namespace', 'agents', '--kubeconfig', api.config);
  const deployment = (name: string) =>
    api.request('GET', `/apis/apps/v1/namespaces/agents/deployments/${name}`) as Promise<Manifest>;
  const images = async () =>
    Promise.all(
      ['api', 'worker'].map(
        async (name) => (await deployment(`interlude-${name}`)).spec.template.spec.containers[0]!.image,
      ),
    );

  /** Ends each job of the migration, as its controller would. */
  function playJobs(how: 'Complete' | 'Failed') {
    const jobs = '/apis/batch/v1/namespaces/agents/jobs';
    const stopped = new AbortController();
    const ended: string[] = [];
    const playing = (async () => {
      while (!stopped.signal.aborted) {
        const { items } = (await api.request('GET', jobs)) as {
          items: { metadata: { name: string; uid: string }; status: { conditions?: [] } }[];
        };
        for (const { metadata, status: before } of items) {
          // One that failed stays.
          if (before.conditions) continue;
          const at = { lastTransitionTime: new Date().toISOString(), status: 'True' };
          const first = how === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
          const status = {
            startTime: at.lastTransitionTime,
            ...(how === 'Complete' && { succeeded: 1, completionTime: at.lastTransitionTime }),
            ...(how === 'Failed' && { failed: 1 }),
            conditions: [first, how].map((type) => ({ type, ...at, reason: 'Test' })),
            uncountedTerminatedPods: {},
          };
          await api.request('PATCH', `${jobs}/${metadata.name}/status`, { status });
          ended.push(metadata.uid);
        }
        await sleep(100);
      }
    })();
    return {
      ended,
      async [Symbol.asyncDispose]() {
        stopped.abort();
        await playing;
      },
    };
  }

  test('it is installed, upgraded and rolled back; each time, the schema is migrated first', async () => {
    await using jobs = playJobs('Complete');
    const usual = ['interlude', chart, '--values', valuesOf('usual')];
    await release('install', ...usual);
    expect(await images()).toEqual([`interlude:${version}`, `interlude:${version}`]);
    await release('upgrade', ...usual, '--set', 'image.tag=9.9.9', '--set', 'worker.replicas=3');
    expect(await images()).toEqual(['interlude:9.9.9', 'interlude:9.9.9']);
    expect((await deployment('interlude-worker')).spec.replicas).toBe(3);
    expect(jobs.ended).toHaveLength(2);
    await release('rollback', 'interlude', '1');
    expect(await images()).toEqual([`interlude:${version}`, `interlude:${version}`]);
    expect((await deployment('interlude-worker')).spec.replicas).toBe(2);
    // An older release has no migration to make.
    expect(jobs.ended).toHaveLength(2);
  });

  test('an upgrade whose migration fails changes no process', async () => {
    await using jobs = playJobs('Failed');
    const before = await deployment('interlude-api');
    const upgrade = release(
      'upgrade',
      'interlude',
      chart,
      '--values',
      valuesOf('usual'),
      '--set',
      'image.tag=0.3.0',
    );
    await expect(upgrade).rejects.toThrow(/pre-upgrade hooks failed/);
    expect(jobs.ended).toHaveLength(1);
    expect((await deployment('interlude-api')).spec).toEqual(before.spec);
  });

  test.each(['everything', 'worker-controller'])(
    'the kinds of the values "%s" are accepted',
    async (name) => {
      await using _ = playJobs('Complete');
      await release('install', name, chart, '--values', valuesOf(name));
      onTestFinished(() => release('uninstall', name).then(() => undefined));
      const { stdout } = await release('status', name, '--output', 'json');
      expect(JSON.parse(stdout)).toMatchObject({ info: { status: 'deployed' } });
    },
  );

  test('values that the service would refuse are refused before anything changes', async () => {
    await expect(
      release('upgrade', 'interlude', chart, '--values', valuesOf('usual'), '--set', 'publicUrl=nowhere'),
    ).rejects.toThrow(/publicUrl/);
  });
});
