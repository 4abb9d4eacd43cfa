/** How both processes reach Temporal. */
import { Client, Connection } from '@temporalio/client';
import type { TLSConfig, WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { openingCodec } from './sealed-payloads.ts';
import type { TemporalConfig } from '../config/config.ts';

/** Connects on first use, so that the API starts, and says it is not ready, while Temporal is away. */
/** `keys`: for whoever reads what workflows of tools say. `guard`: sees each call about a workflow first. */
export function connectClient(
  config: Pick<TemporalConfig, 'address' | 'namespace' | 'apiKey' | 'tls'>,
  keys?: KeyRing,
  guard?: WorkflowClientInterceptor,
): {
  client: Client;
  close(): Promise<void>;
} {
  const connection = Connection.lazy(connectionOptions(config));
  const client = new Client({
    connection,
    namespace: config.namespace,
    ...(keys && { dataConverter: { payloadCodecs: [openingCodec(keys)] } }),
    ...(guard && { interceptors: { workflow: [guard] } }),
  });
  return { client, close: () => connection.close() };
}

export async function connectWorker(config: TemporalConfig): Promise<NativeConnection> {
  const options = connectionOptions(config);
  try {
    return await NativeConnection.connect(options);
  } catch (cause) {
    throw new TemporalUnreachable(
      `Cannot connect to Temporal at ${options.address}. Check TEMPORAL_ADDRESS, TEMPORAL_API_KEY and the TEMPORAL_TLS settings, and that it runs.`,
      { cause },
    );
  }
}

class TemporalUnreachable extends Error {
  override name = 'TemporalUnreachable';
}

export function connectionOptions({
  address,
  apiKey,
  tls,
}: Pick<TemporalConfig, 'address' | 'apiKey' | 'tls'>) {
  return {
    address: address ?? 'localhost:7233',
    tls: typeof tls === 'boolean' ? tls : toTls(tls),
    ...(apiKey !== undefined && { apiKey }),
  };
}

function toTls({ serverName, ca, cert, key }: Exclude<TemporalConfig['tls'], boolean>): TLSConfig {
  return {
    ...(serverName !== undefined && { serverNameOverride: serverName }),
    ...(ca !== undefined && { serverRootCACertificate: Buffer.from(ca) }),
    ...(cert !== undefined &&
      key !== undefined && { clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) } }),
  };
}
