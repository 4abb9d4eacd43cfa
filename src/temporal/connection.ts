/** How both processes reach Temporal. */
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { ConnectionOptions, TLSConfig, WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { openingCodec } from './sealed-payloads.ts';
import type { TemporalConfig, TemporalLogin, TemporalTls } from '../config/config.ts';
import { grpcStatus } from './grpc-status.ts';
import { TemporalUnreachable } from './outage.ts';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

type Reached = Pick<TemporalConfig, 'address' | 'namespace' | 'apiKey' | 'tls' | 'currentLogin'>;

/** How often files of secrets are looked at. */
const lookEveryMs = 2_000;

/**
 * Connects on first use, so that the API starts, and says what it does without, while Temporal is away. `keys`: to read what
 * workflows of tools say. `guard`: sees each call about a workflow first.
 */
export function connectClient(
  config: Reached,
  keys?: KeyRing,
  guard?: WorkflowClientInterceptor,
): {
  client: Client;
  close(): Promise<void>;
} {
  const { connection, close } = connectLazily(config);
  const client = new Client({
    connection,
    namespace: config.namespace,
    ...(keys && { dataConverter: { payloadCodecs: [openingCodec(keys)] } }),
    ...(guard && { interceptors: { workflow: [guard] } }),
  });
  return { client, close };
}

/** A client over a worker's connection. */
export function clientOver(
  connection: NativeConnection,
  { namespace }: Pick<TemporalConfig, 'namespace'>,
  guard?: WorkflowClientInterceptor,
): Client {
  return new Client({ connection, namespace, ...(guard && { interceptors: { workflow: [guard] } }) });
}

/** A connection that follows changes of its secrets. `options`: more than the address and the login. */
export function connectLazily(
  config: Reached,
  options: ConnectionOptions = {},
): { connection: Connection; close(): Promise<void> } {
  const login = loginOf(config);
  const connections: Connection[] = [];
  let certificates: string | undefined;

  /** A new one when certificates have changed. The one before is kept until the end, for the calls that use it. */
  function current(): Connection {
    const now = login();
    const tls = JSON.stringify(now.tls);
    if (tls !== certificates)
      connections.push(
        Connection.lazy({
          interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), failOnceClosed],
          ...options,
          ...connectionOptions(config.address, now),
          // Asked for each request.
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
 * The SDK repeats a failed call in a timer. When the connection was closed meanwhile, the next attempt throws there, which
 * ends the process; the call fails instead.
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
  const options = connectionOptions(config.address, login());
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

/** Until the connection is closed. */
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

/** Calls `changed` once, when the files of certificates have changed. Returns how to stop. */
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

function toTls({ serverName, ca, cert, key }: TemporalTls): TLSConfig {
  return {
    ...(serverName !== undefined && { serverNameOverride: serverName }),
    ...(ca !== undefined && { serverRootCACertificate: Buffer.from(ca) }),
    ...(cert !== undefined &&
      key !== undefined && { clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) } }),
  };
}
