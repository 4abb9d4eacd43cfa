/**
 * Connects to a remote agent: reads its card, and makes the SDK's client for one operation.
 *
 * The card says where the agent takes messages, in which version, and what it can do. Cards are read without an account and
 * cached for all users. Texts of the card are ignored, because they could pass for the operator's.
 */
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import type { AgentCard, AgentInterface } from '@a2a-js/sdk';
import { elicitationExtension } from '../../api/a2a/vocabulary/question.ts';
import type { ServerConfig } from '../../platform/config/config.ts';
import { noCredential } from '../../credentials/credential-store.ts';
import type { Credential } from '../../credentials/credential-store.ts';
import { headersOf, unsendableHeader, withTrace } from '../request-account.ts';
import { nameOf } from '../server-name.ts';
import type { Unreachable } from '../remote-servers.ts';
import { trackedRequest } from '@interlude-ai/core/mcp/tracked-request.ts';
import { networkFailure, outcomeWith } from '../network-failure.ts';
import type { RequestTrace } from '@interlude-ai/core/mcp/tracked-request.ts';

export interface ConnectedAgent {
  kind: 'connected';
  server: ServerConfig;
  credential: Credential;
  client: Client;
  /** To be passed with every request. */
  options: RequestOptions;
  isStreaming: boolean;
  isStructured: boolean;
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
    return outcomeWith('unreachable', {
      code: 'header_unsendable',
      server: nameOf(server),
      header: unsendable,
      isTask: true,
    });
  }
  const read = await cards.of(server, signal);
  if (read.kind === 'unreachable') return read;
  const { card, isStreaming, isStructured } = read;
  const requests = createAgentRequests(target);
  const fetchImpl = requests.fetch;
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory({ fetchImpl })];
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

/** Methods without an effect. */
const harmless = /"method":"(?:GetTask|SubscribeToTask|tasks\/get|tasks\/resubscribe)"/;

/** `fetch` for the SDK, for one operation: adds the headers of server and account, and traces each request. */
function createAgentRequests({ server, credential, signal, onSending }: Omit<Target, 'cards'>) {
  let latest: RequestTrace | undefined;
  return {
    fetch: ((url: string | URL, init?: RequestInit) => {
      const trace: RequestTrace = { isSent: false, isStream: false, challenge: null };
      latest = trace;
      const headers = new Headers(init?.headers);
      for (const [name, value] of headersOf(server, credential)) headers.set(name, value);
      const isHarmless =
        init?.method === 'GET' || (typeof init?.body === 'string' && harmless.test(init.body.slice(0, 200)));
      return trackedRequest(url, withTrace(server, { ...init, headers }), trace, {
        signal: init?.signal ? AbortSignal.any([signal, init.signal]) : signal,
        onSending,
        isHarmless,
      });
    }) as typeof fetch,
    last: () => latest,
  };
}

interface ReadCard {
  kind: 'card';
  /** Contains only the interface that is used. */
  card: AgentCard;
  isStreaming: boolean;
  /** It supports the extension for questions. */
  isStructured: boolean;
}

const keptMs = 5 * 60_000;
const spoken = /^(?:JSONRPC (?:1|0\.3)|HTTP\+JSON 1)(?:\.|$)/;

export function createCards() {
  const known = new Map<string, { read: ReadCard; until: number }>();
  return {
    async of(server: ServerConfig, signal: AbortSignal) {
      const kept = known.get(server.name);
      if (kept && Date.now() < kept.until) return kept.read;
      const read = await readCard(server, signal);
      if (read.kind === 'card') known.set(server.name, { read, until: Date.now() + keptMs });
      return read;
    },
    /** Forgets a card whose address could not be reached. */
    drop: ({ name }: ServerConfig) => void known.delete(name),
  };
}

export type Cards = ReturnType<typeof createCards>;

async function readCard(server: ServerConfig, signal: AbortSignal): Promise<ReadCard | Unreachable> {
  const requests = createAgentRequests({ server, credential: noCredential, signal });
  const name = nameOf(server);
  try {
    const response = await requests.fetch(server.agent?.card ?? '', {
      method: 'GET',
      headers: { accept: 'application/json', 'a2a-version': '1.0' },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return outcomeWith('unreachable', { code: 'no_card', server: name, status: response.status });
    }
    return readInterfaces(server, await response.json());
  } catch {
    const trace = requests.last();
    if (signal.aborted) return outcomeWith('unreachable', { code: 'card_late', server: name });
    return outcomeWith(
      'unreachable',
      trace?.status === undefined
        ? networkFailure(name, trace?.failure, 'card')
        : { code: 'no_card_content', server: name },
    );
  }
}

function readInterfaces(server: ServerConfig, raw: unknown): ReadCard | Unreachable {
  const name = nameOf(server);
  const resolver = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });
  const card = resolver.normalizeAgentCard(raw);
  const offered: AgentInterface[] = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces : [];
  const supported = offered
    .filter(({ protocolBinding, protocolVersion }) => spoken.test(`${protocolBinding} ${protocolVersion}`))
    .toSorted((one, other) => Number(isOld(one)) - Number(isOld(other)));
  if (supported.length === 0) return outcomeWith('unreachable', { code: 'no_interface', server: name });
  const used = supported.find(({ url }) => isAllowedAddress(server, url));
  if (!used) return outcomeWith('unreachable', { code: 'other_host', server: name });
  const { capabilities } = card;
  return {
    kind: 'card',
    card: { ...card, supportedInterfaces: [used] },
    isStreaming: capabilities?.streaming === true,
    isStructured: (capabilities?.extensions ?? []).some(({ uri }) => uri === elicitationExtension),
  };
}

/** The author of a card can change it, but only the operator decides where the credential of an account is sent. */
function isAllowedAddress({ agent }: ServerConfig, url: string): boolean {
  const given = [agent?.card, agent?.endpoint].flatMap((one) =>
    one === undefined ? [] : [new URL(one).origin],
  );
  return URL.canParse(url) && given.includes(new URL(url).origin);
}

function isOld({ protocolVersion }: AgentInterface): boolean {
  return protocolVersion.startsWith('0.');
}
