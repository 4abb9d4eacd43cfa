/**
 * The service under test, seen from the runner: a process that is started once for each agents file, can be killed and
 * started again, and ends with the runner. Each use has a tenant of its own, so that tests share no account, conversation
 * or approval.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { freePort } from '../platform/network/ports.ts';
import type { TurnModel } from './model.ts';
import type { Execution, FromService, Question, StepAsked, ToService } from './protocol.ts';

const host = '127.0.0.1';
const audience = 'interlude';

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A child process that answers questions. It does not keep the runner alive, except while a question is open. */
class Child {
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #onMessage: (message: FromService) => void;
  #asked = 0;
  #output = '';
  #ended: Error | undefined;

  constructor(
    onMessage: (message: FromService) => void = () => undefined,
    onCrash: (error: Error) => void = () => undefined,
  ) {
    this.#onMessage = onMessage;
    const own = fileURLToPath(import.meta.url);
    const program = path.join(path.dirname(own), `service-process${path.extname(own)}`);
    const child = fork(program, [], { execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-4_000)));
      (stream as unknown as { unref?(): void } | null)?.unref?.();
    }
    // Text, because objects from the channel are made outside a test runner's VM context.
    child.on('message', (text: string) => this.#receive(JSON.parse(text) as FromService));
    child.on('exit', (code, signal) => {
      const error = new Error(`The service under test ended (${code ?? signal}).\n${this.#output}`);
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
      this.#ended = error;
      if (shared().children.delete(this)) onCrash(error);
    });
    child.unref();
    child.channel?.unref();
    shared().children.add(this);
  }

  ask<T>(question: Question): Promise<T> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#asked++;
    this.#process.channel?.ref();
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject });
      this.send({ kind: 'question', id, question });
    });
  }

  send(message: ToService): void {
    this.#process.send(message, () => undefined);
  }

  kill(): Promise<void> {
    return this.#end((child) => child.kill('SIGKILL'));
  }

  /** As the end of the runner does. */
  stop(): Promise<void> {
    return this.#end((child) => child.connected && child.disconnect());
  }

  get ended(): Error | undefined {
    return this.#ended;
  }

  async #end(how: (child: ChildProcess) => unknown): Promise<void> {
    shared().children.delete(this);
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.ref();
    const ended = once(this.#process, 'exit');
    how(this.#process);
    await ended;
  }

  #receive(message: FromService): void {
    if (message.kind !== 'answer') return this.#onMessage(message);
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#process.channel?.unref();
    if (message.error === undefined) pending?.resolve(message.result);
    else pending?.reject(new Error(message.error));
  }
}

export interface ServiceOptions {
  /** The agents file. */
  file: string;
  /** Variables that the agents file names, and settings of the service. The runner's own environment has the rest. */
  env?: Readonly<Record<string, string>>;
}

type Settings = Record<string, string> & Record<'INTERLUDE_CONFIG' | 'INTERLUDE_DATA', string>;

export class TestService {
  readonly executions: Execution[] = [];
  readonly baseUrl: string;
  readonly #crash = Promise.withResolvers<Error>();
  /** Resolves when its process ends by itself. */
  readonly crashed = this.#crash.promise;
  readonly #settings: Settings;
  readonly #tokenFor: Issuer['tokenFor'];
  readonly #models = new Map<string, TurnModel>();
  /** Steps of turns whose id the test does not know yet. */
  readonly #unclaimed = new Map<string, (() => void)[]>();
  readonly #steps = new Map<number, StepAsked>();
  #child: Child;

  private constructor(settings: Settings, issuer: Issuer) {
    this.#settings = settings;
    this.#tokenFor = issuer.tokenFor;
    this.baseUrl = `http://${host}:${settings['PORT']}`;
    this.#child = this.#spawn();
  }

  static async start({ file, env = {} }: ServiceOptions): Promise<TestService> {
    const [temporal, issuer, port] = await Promise.all([sharedTemporal(), startIssuer(), freePort(host)]);
    const settings = {
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'warn',
      ...env,
      INTERLUDE_CONFIG: path.resolve(file),
      INTERLUDE_DATA: temporaryFolder(),
      HOST: host,
      PORT: String(port),
      INTERLUDE_KEYS: `tests:${randomBytes(32).toString('base64')}`,
      AUTH_ISSUER: issuer.url,
      AUTH_AUDIENCE: audience,
      AUTH_CLIENT_ID: 'tests',
      TEMPORAL_ADDRESS: temporal,
      TEMPORAL_TASK_QUEUE: `tests-${randomUUID()}`,
    };
    const service = new TestService(settings, issuer);
    await service.#begin();
    return service;
  }

  ask<T>(question: Question): Promise<T> {
    return this.#child.ask<T>(question);
  }

  tokenFor(tenant: string, user: string): Promise<string> {
    return this.#tokenFor(tenant, user);
  }

  /** The model that is asked for the steps of this turn. */
  claim(turnId: string, model: TurnModel): void {
    this.#models.set(turnId, model);
    for (const go of this.#unclaimed.get(turnId) ?? []) go();
    this.#unclaimed.delete(turnId);
  }

  /**
   * Kills the process, as a crash would, and starts another one on the same database and Temporal. A server can have got a
   * call whose report is still under way: it arrives first, unless the process is too busy to send it.
   */
  async restart(): Promise<void> {
    if (this.#child.ended) throw this.#child.ended;
    await Promise.race([this.ask({ do: 'finish reports' }), sleep(1_000, null, { ref: false })]).catch(
      () => undefined,
    );
    await this.#child.kill();
    this.#child = this.#spawn();
    await this.#begin();
  }

  #begin(): Promise<void> {
    const environment = Object.fromEntries(
      Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const { INTERLUDE_CONFIG } = this.#settings;
    const folder = path.dirname(INTERLUDE_CONFIG);
    return this.ask({ do: 'start', environment, settings: this.#settings, folder });
  }

  #spawn(): Child {
    const receive = (message: FromService) => {
      if (message.kind === 'call') this.executions.push(message.call);
      else if (message.kind === 'step') void this.#answerStep(child, message.id, message.step);
      else if (message.kind === 'move') {
        const step = this.#steps.get(message.id);
        if (step) this.#models.get(step.turnId)?.note(step, message.move);
      }
    };
    const child: Child = new Child(receive, (error) => {
      rmSync(this.#settings.INTERLUDE_DATA, { recursive: true, force: true });
      this.#crash.resolve(error);
    });
    return child;
  }

  async #answerStep(child: Child, id: number, step: StepAsked): Promise<void> {
    const { turnId } = step;
    if (!this.#models.has(turnId))
      await new Promise<void>((go) =>
        this.#unclaimed.set(turnId, [...(this.#unclaimed.get(turnId) ?? []), go]),
      );
    const reply = this.#models.get(turnId)?.reply(step);
    this.#steps.set(id, step);
    if (reply) child.send({ kind: 'step', id, reply });
  }
}

interface Shared {
  services: Map<string, Promise<TestService>>;
  temporal?: Promise<string>;
  children: Set<Child>;
}

/** Once in the process of the runner, also where the runner loads its modules anew for each file. */
function shared(): Shared {
  const key = Symbol.for('interlude.agent-tests');
  const global = globalThis as { [key]?: Shared };
  return (global[key] ??= { services: new Map(), children: new Set() });
}

/** For a runner whose process goes on with other things. */
export async function stopServices(): Promise<void> {
  const { services, children } = shared();
  services.clear();
  delete shared().temporal;
  await Promise.all([...children].map((child) => child.stop()));
}

/** Where each file has a VM context of its own (Jest), its services would outlive it: the process goes on with other files. */
const hasOwnContext = !(once instanceof Function);
const { afterAll } = globalThis as { afterAll?: (hook: () => Promise<void>) => void };
if (hasOwnContext) afterAll?.(stopServices);

export function serviceFor(options: ServiceOptions): Promise<TestService> {
  const { services } = shared();
  const key = JSON.stringify([path.resolve(options.file), options.env]);
  const service = services.get(key) ?? TestService.start(options);
  services.set(key, service);
  // The next test tries again.
  const forget = () => services.delete(key);
  service.then(({ crashed }) => crashed.then(forget), forget);
  return service;
}

function sharedTemporal(): Promise<string> {
  const temporal = (shared().temporal ??= startTemporal());
  temporal.catch(() => delete shared().temporal);
  return temporal;
}

async function startTemporal(): Promise<string> {
  const [port, uiPort] = await Promise.all([freePort(host), freePort(host)]);
  return new Child().ask<string>({ do: 'start temporal', dataDir: temporaryFolder(), port, uiPort });
}

/** The process that uses it removes it. */
function temporaryFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'interlude-agent-tests-'));
}

interface Issuer {
  url: string;
  tokenFor(tenant: string, user: string): Promise<string>;
}

/** Signs anyone in. Here and not in the service, so that tokens outlive its restarts. */
async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const kid = 'tests';
  const keys = [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }];
  const server = createServer((request, response) => {
    const isMetadata = request.url?.endsWith('/openid-configuration') === true;
    // An idle connection would keep the runner's process alive.
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(isMetadata ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }));
  }).listen(0, host);
  await once(server, 'listening');
  server.unref();
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    tokenFor: (tenant, user) =>
      new SignJWT({ tenant })
        .setProtectedHeader({ alg: 'ES256', kid })
        .setIssuer(url)
        .setAudience(audience)
        .setSubject(user)
        .setIssuedAt()
        .setExpirationTime('30 days')
        .sign(privateKey),
  };
}
