/** Connects to a remote agent: reads its card, and makes the SDK's client for one operation. */
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { ServiceParameters, withA2AExtensions } from '@a2a-js/sdk/client';
import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import { elicitationExtension } from '../../a2a/extension.ts';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential } from '../../credentials/store.ts';
import { unsendableHeader } from '../request-headers.ts';
import { nameOf } from '../server-name.ts';
import type { Unreachable } from '../tool-call.ts';
import type { RequestTrace } from '../tracked-request.ts';
import type { Cards } from './card.ts';
import { createAgentRequests } from './request.ts';

export interface ConnectedAgent {
  kind: 'connected';
  server: ServerConfig;
  credential: Credential;
  client: Client;
  /** Passed with every request. */
  options: RequestOptions;
  isStreaming: boolean;
  isStructured: boolean;
  /** The latest request. */
  last(): RequestTrace | undefined;
}

export interface Target {
  server: ServerConfig;
  credential: Credential;
  signal: AbortSignal;
  cards: Cards;
  onSending?: (() => void) | undefined;
}

export async function connectAgent(target: Target): Promise<ConnectedAgent | Unreachable> {
  const { server, credential, signal, cards } = target;
  const unsendable = unsendableHeader(server, credential);
  if (unsendable !== undefined) {
    const remedy = 'The operator should check headers and headersEnv in the agents file.';
    const message = `${nameOf(server)} was not asked: the value of its header "${unsendable}" cannot be sent. ${remedy}`;
    return { kind: 'unreachable', message };
  }
  const read = await cards.of(server, signal);
  if (read.kind === 'unreachable') return read;
  const { card, isStreaming, isStructured } = read;
  const requests = createAgentRequests(target);
  const options = { fetchImpl: requests.fetch, legacyCompat: { enabled: true } };
  const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)];
  const client = await new ClientFactory({ transports }).createFromAgentCard(card);
  return {
    kind: 'connected',
    server,
    credential,
    client,
    options: isStructured
      ? { signal, serviceParameters: ServiceParameters.create(withA2AExtensions(elicitationExtension)) }
      : { signal },
    isStreaming,
    isStructured,
    last: requests.last,
  };
}
