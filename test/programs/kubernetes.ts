/**
 * Helm, kubeconform, an API server of Kubernetes and etcd. Helm and kubeconform are those on the PATH, else they and the API
 * server are built once from their Go modules, which takes minutes. etcd is this machine's or Debian's.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Agent, fetch } from 'undici';
import { parse, stringify } from 'yaml';
import { freePort } from '../free-port.ts';
import { goTool } from './built-program.ts';
import type { BuiltProgram } from './built-program.ts';
import { findProgram, onPath } from './find-program.ts';

const run = promisify(execFile);
const apiServerModule = path.join(import.meta.dirname, 'kube-apiserver');

/** Helm asks for it. */
const versionOfApi = Object.fromEntries(
  [
    ['gitVersion', 'v1.37.2'],
    ['gitMajor', '1'],
    ['gitMinor', '37'],
  ].map(([name, value]) => [`k8s.io/component-base/version.${name}`, value!]),
);

/** The modules whose files describe further kinds, with the hash that Go's checksum database has for each. */
const definedIn = [
  {
    module: 'github.com/temporalio/temporal-worker-controller@v1.8.1',
    sum: 'h1:fyGqkeh8sQ0QIoCpko1iUgZ+TbKTyivgTBouiHMPaoM=',
    files: ['connections', 'workerdeployments'].map(
      (name) => `helm/temporal-worker-controller-crds/templates/temporal.io_${name}.yaml`,
    ),
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
    files: ['config/crd/bases/keda.sh_scaledobjects.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.90.1',
    sum: 'h1:n/+FkLB6WpftBxJC8IEHrWXSA6uzNTocFmwU/ACkfeg=',
    files: ['example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'],
  },
];

interface CustomKind {
  spec: {
    group: string;
    names: { kind: string; plural: string };
    versions: { name: string; schema: { openAPIV3Schema: object } }[];
  };
}

export async function findHelm(): Promise<BuiltProgram> {
  const own = onPath(['helm']);
  return own
    ? { executable: own }
    : goTool('kubernetes-tools', 'helm', { goPackage: 'helm.sh/helm/v3/cmd/helm' });
}

export async function findKubeconform(): Promise<BuiltProgram> {
  const own = onPath(['kubeconform']);
  const goPackage = 'github.com/yannh/kubeconform/cmd/kubeconform';
  return own ? { executable: own } : goTool('kubernetes-tools', 'kubeconform', { goPackage });
}

/** The kinds of Temporal's Worker Controller, of KEDA and of the Prometheus Operator that the chart uses. */
export async function customKinds(): Promise<CustomKind[]> {
  const found = await Promise.all(
    definedIn.map(async ({ module, sum, files }) => {
      const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: apiServerModule });
      const { Dir, Sum } = JSON.parse(stdout) as { Dir: string; Sum: string };
      if (Sum !== sum) throw new Error(`${module} is ${Sum}`);
      return Promise.all(files.map((file) => readFile(path.join(Dir, file), 'utf8')));
    }),
  );
  return found.flat().map((text) => parse(text) as CustomKind);
}

interface Schema {
  [member: string]: unknown;
  properties?: Record<string, Schema>;
}

/**
 * Writes the schemas of all kinds for kubeconform, and returns its option. They are those of the module of which the API
 * server is built, and refuse members that they do not know.
 */
export async function writeSchemas(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const module = 'k8s.io/kubernetes';
  await run('go', ['mod', 'download', module], { cwd: apiServerModule });
  const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd: apiServerModule });
  const text = await readFile(path.join(stdout.trim(), 'api/openapi-spec/swagger.json'), 'utf8');
  const { definitions } = JSON.parse(text) as { definitions: Record<string, Schema> };
  const textOrNumber = { type: ['string', 'number'] };
  const common = {
    ...(closed(definitions) as object),
    'io.k8s.apimachinery.pkg.util.intstr.IntOrString': textOrNumber,
    'io.k8s.apimachinery.pkg.api.resource.Quantity': textOrNumber,
  };
  await writeFile(path.join(folder, 'definitions.json'), JSON.stringify({ definitions: common }));
  // kubeconform takes the version for the group of kinds without one.
  const write = (group: string, version: string, kind: string, schema: object) =>
    writeFile(
      path.join(folder, `${group || version}-${version}-${kind.toLowerCase()}.json`),
      JSON.stringify(schema),
    );
  for (const [name, definition] of Object.entries(definitions)) {
    const kinds = definition['x-kubernetes-group-version-kind'] as
      | { group: string; version: string; kind: string }[]
      | undefined;
    if (kinds?.length === 1 && kinds[0])
      await write(kinds[0].group, kinds[0].version, kinds[0].kind, {
        $ref: `definitions.json#/definitions/${name}`,
      });
  }
  for (const { spec } of await customKinds())
    for (const { name, schema } of spec.versions)
      await write(spec.group, name, spec.names.kind, closed(schema.openAPIV3Schema) as object);
  return path.join(folder, '{{.Group}}-{{.ResourceAPIVersion}}-{{.ResourceKind}}.json');
}

/** Refuses unknown members, except where anything may be. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const schema = Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, closed(one)]),
  ) as Schema;
  const isOpen =
    typeof schema['type'] !== 'string' ||
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    'additionalProperties' in schema;
  return schema.properties && !isOpen ? { ...schema, additionalProperties: false } : schema;
}

export interface KubernetesApi extends AsyncDisposable {
  /** For `KUBECONFIG`. */
  config: string;
  /** Throws on any status but 2xx. */
  request(method: string, at: string, body?: object): Promise<unknown>;
}

type Missing = { missing: string };

/** An API server with its own etcd. There are no controllers and no nodes, so what is created stays as it is. */
export async function startKubernetesApi(folder: string): Promise<KubernetesApi | Missing> {
  const [server, etcd] = await Promise.all([
    goTool('kube-apiserver', 'kube-apiserver', { variables: versionOfApi }),
    findProgram({ given: 'ETCD_PATH', names: ['etcd'], package: 'etcd-server', executable: 'usr/bin/etcd' }),
  ]);
  if ('missing' in server) return server;
  if (etcd.kind === 'missing') return { missing: etcd.why };
  const [clients, peers, port] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string) => path.join(folder, name);
  const token = 'for-the-test';
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(file('account.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  await writeFile(file('tokens.csv'), `${token},admin,admin,system:masters\n`);
  const url = `https://127.0.0.1:${port}`;
  const cluster = { name: 'test', cluster: { server: url, 'insecure-skip-tls-verify': true } };
  await writeFile(
    file('config'),
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [cluster],
      users: [{ name: 'admin', user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
      'current-context': 'test',
    }),
  );
  const started: ChildProcess[] = [];
  const output: string[] = [];
  const start = (executable: string, options: string[], env = {}) => {
    const child = spawn(executable, options, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    started.push(child);
  };
  start(
    etcd.executable,
    [
      `--data-dir=${file('etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${clients}`,
      `--advertise-client-urls=http://127.0.0.1:${clients}`,
      `--listen-peer-urls=http://127.0.0.1:${peers}`,
    ],
    etcd.env,
  );
  start(server.executable, [
    `--etcd-servers=http://127.0.0.1:${clients}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${file('certificates')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('account.key')}`,
    `--service-account-signing-key-file=${file('account.key')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=AlwaysAllow',
    '--disable-admission-plugins=ServiceAccount',
    '--service-cluster-ip-range=10.0.0.0/24',
  ]);
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const send = (method: string, at: string, body?: object) =>
    fetch(url + at, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const api: KubernetesApi = {
    config: file('config'),
    async request(method, at, body) {
      const response = await send(method, at, body);
      const answer = await response.text();
      if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${answer}`);
      return JSON.parse(answer) as unknown;
    },
    async [Symbol.asyncDispose]() {
      await dispatcher.destroy();
      for (const child of started.toReversed()) {
        if (child.exitCode !== null) continue;
        const closed = once(child, 'close');
        child.kill('SIGKILL');
        await closed;
      }
    },
  };
  for (;;) {
    if (started.some(({ exitCode }) => exitCode !== null)) {
      await api[Symbol.asyncDispose]();
      throw new Error(`The API server did not start:\n${output.join('').slice(-4_000)}`);
    }
    const ready = await send('GET', '/readyz').catch(() => null);
    await ready?.text();
    if (ready?.ok) return api;
    await sleep(200);
  }
}
