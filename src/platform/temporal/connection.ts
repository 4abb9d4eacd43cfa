/** Connections to Temporal, for the API and for workers. */
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type {
  ClientOptions,
  ConnectionOptions,
  TLSConfig,
  WorkflowClientInterceptor,
} from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { NativeConnectionOptions } from '@temporalio/worker';
import type { Config, TemporalConfig, TemporalLogin, TemporalTls } from '../config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { proxyFor } from '@interlude-ai/core/proxy.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { grpcStatus } from './grpc-status.ts';
import { TemporalUnreachable } from './outage.ts';
import { openingCodec } from './sealed-payloads.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

type Reached = Pick<TemporalConfig, 'address' | 'namespace' | 'apiKey' | 'tls' | 'currentLogin'>;

/** Of a command: with the address at which `interlude start` runs its own Temporal, unless there is another. */
export function withAddress(temporal: Config['temporal']): TemporalConfig {
  return { ...temporal, address: temporal.address ?? `127.0.0.1:${temporal.port}` };
}

/** How often files with secrets are read. */
const lookEveryMs = 2_000;

interface ClientParts {
  /** To open sealed payloads of tools' workflows. */
  keys?: KeyRing | undefined;
  /** Intercepts each call about a workflow. */
  guard?: WorkflowClientInterceptor | undefined;
}

/** Connects on first use, so that the API can start and report its state while Temporal is down. */
export function connectClient(
  config: Reached,
  parts: ClientParts = {},
): {
  client: Client;
  close(): Promise<void>;
} {
  const { connection, close } = connectLazily(config);
  return { client: new Client({ connection, namespace: config.namespace, ...clientOptions(parts) }), close };
}

function clientOptions({ keys, guard }: ClientParts): ClientOptions {
  return {
    ...(keys && { dataConverter: { payloadCodecs: [openingCodec(keys)] } }),
    ...(guard && { interceptors: { workflow: [guard] } }),
  };
}

/**
 * A client over a worker's native connection. Its calls end at their deadline; the SDK alone would apply the deadline to
 * each attempt, and make attempts for up to ten seconds. A running attempt may still reach Temporal after the deadline.
 */
export function clientOver(
  connection: NativeConnection,
  { namespace }: Pick<TemporalConfig, 'namespace'>,
  { keys, guard }: ClientParts = {},
): Client {
  return new Client({ connection: endingInTime(connection), namespace, ...clientOptions({ keys, guard }) });
}

/**
 * The client of an API in one process with its worker. It shares the worker's connection, unless certificates are files,
 * which may change: only a connection of its own follows that.
 */
export function clientBeside(
  connection: NativeConnection,
  config: TemporalConfig,
  parts: ClientParts,
): { client: Client; isShared: boolean; close(): Promise<void> } {
  const isShared = typeof loginOf(config)().tls === 'boolean';
  return isShared
    ? { client: clientOver(connection, config, parts), isShared, close: async () => undefined }
    : { ...connectClient(config, parts), isShared };
}

function endingInTime(connection: NativeConnection): NativeConnection {
  return new Proxy(connection, {
    get(target, name) {
      if (name === 'withDeadline') return withDeadline;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });

  async function withDeadline<T>(deadline: number | Date, call: () => Promise<T>): Promise<T> {
    const late = {};
    const calling = connection.withDeadline(deadline, call);
    const result = await withTimeout(calling, Number(deadline) - Date.now(), late);
    if (result === late) throw new DeadlineExceeded();
    return result as T;
  }
}

/** Has the shape of Temporal's own errors. */
class DeadlineExceeded extends Error {
  readonly code = grpcStatus.deadlineExceeded;
  readonly details = 'the call took too long';
  readonly metadata = new Map<string, string>();

  constructor() {
    super('4 DEADLINE_EXCEEDED: the call took too long');
  }
}

/**
 * After an outage the connection is back as soon as a worker's. By default gRPC pauses for up to two minutes between
 * attempts to connect, and 30 s between look-ups of the address; calls meanwhile fail at once.
 */
const soonReconnected = {
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
};

/** A connection that follows changes of its secrets. `options`: in addition to the address and the login. */
export function connectLazily(
  config: Reached,
  options: ConnectionOptions = {},
): { connection: Connection; close(): Promise<void> } {
  const login = loginOf(config);
  const connections: Connection[] = [];
  let certificates: string | undefined;

  /** Opens a new connection when certificates have changed. Older ones stay open for the calls that use them. */
  function current(): Connection {
    const now = login();
    const tls = JSON.stringify(now.tls);
    if (tls !== certificates)
      connections.push(
        Connection.lazy({
          interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), failOnceClosed],
          ...options,
          ...connectionOptions(config.address, now),
          channelArgs: {
            ...soonReconnected,
            'grpc.enable_http_proxy': temporalProxy(config.address, now) ? 1 : 0,
          },
          // Called for each request.
          ...(now.apiKey !== undefined && { apiKey: () => login().apiKey ?? '' }),
        }),
      );
    certificates = tls;
    return connections.at(-1) as Connection;
  }

  const connection = new Proxy(current(), {
    get(_, name) {
      const now = current();
      const member: unknown = Reflect.get(now, name);
      return typeof member === 'function' ? (member.bind(now) as unknown) : member;
    },
  });
  return { connection, close: async () => void (await Promise.all(connections.map((one) => one.close()))) };
}

/**
 * The SDK repeats a failed call in a timer. If the connection was closed meanwhile, the next attempt throws in the timer,
 * which would end the process. This makes the call fail instead.
 */
const failOnceClosed: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as ReturnType<Interceptor>;
  } catch (error) {
    const details = error instanceof Error ? error.message : String(error);
    const call: Partial<ReturnType<Interceptor>> = {
      start(metadata, listener) {
        listener?.onReceiveStatus?.({ code: grpcStatus.cancelled, details, metadata });
      },
      sendMessage: () => undefined,
      halfClose: () => undefined,
    };
    return call as ReturnType<Interceptor>;
  }
};

export async function connectWorker(config: TemporalConfig): Promise<NativeConnection> {
  const login = loginOf(config);
  const proxy = temporalProxy(config.address, login());
  const options = { ...connectionOptions(config.address, login()), ...(proxy && { proxy }) };
  let connection: NativeConnection;
  try {
    connection = await NativeConnection.connect(options);
  } catch (cause) {
    throw new TemporalUnreachable(
      `Cannot connect to Temporal at ${options.address}. Check TEMPORAL_ADDRESS, TEMPORAL_API_KEY and the TEMPORAL_TLS settings, and that it runs.`,
      { cause },
    );
  }
  keepApiKey(connection, login);
  return connection;
}

/** Updates the API key until the connection is closed. */
function keepApiKey(connection: NativeConnection, login: () => TemporalLogin): void {
  let { apiKey } = login();
  if (apiKey === undefined) return;
  const timer = setInterval(() => {
    const now = login().apiKey;
    if (now === undefined || now === apiKey) return;
    apiKey = now;
    void connection.setApiKey(now);
  }, lookEveryMs).unref();
  const close = connection.close.bind(connection);
  connection.close = () => {
    clearInterval(timer);
    return close();
  };
}

/** Calls `changed` once, when the files of certificates have changed. Returns a function that stops watching. */
export function whenTlsChanges(config: TemporalConfig, changed: () => void): () => void {
  const login = loginOf(config);
  const current = () => JSON.stringify(login().tls);
  const before = current();
  const timer = setInterval(() => {
    if (current() === before) return;
    clearInterval(timer);
    changed();
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

function loginOf({ apiKey, tls, currentLogin }: Reached): () => TemporalLogin {
  return currentLogin ?? (() => ({ apiKey, tls }));
}

function connectionOptions(address: string | undefined, { apiKey, tls }: TemporalLogin) {
  return {
    address: address ?? 'localhost:7233',
    tls: typeof tls === 'boolean' ? tls : toTls(tls),
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** A proxy of the environment is used with TLS only. */
function temporalProxy(
  address: string | undefined,
  { tls }: TemporalLogin,
): NativeConnectionOptions['proxy'] {
  const proxy = tls !== false && address !== undefined ? proxyFor(`https://${address}`) : undefined;
  if (!proxy) return undefined;
  const { username, password, hostname, port } = proxy;
  return {
    type: 'http-connect',
    targetHost: `${hostname}:${port || 80}`,
    ...(username !== '' && {
      basicAuth: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
    }),
  };
}

function toTls({ serverName, ca, cert, key }: TemporalTls): TLSConfig {
  return {
    ...(serverName !== undefined && { serverNameOverride: serverName }),
    ...(ca !== undefined && { serverRootCACertificate: Buffer.from(ca) }),
    ...(cert !== undefined &&
      key !== undefined && { clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) } }),
  };
}
