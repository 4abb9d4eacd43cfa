/**
 * The card of a remote agent: where it takes messages, in which version, and what it can do. Cards are read without anybody's
 * account, and kept for a while, for all. What a card says in words is not read: a stranger's words would stand where the
 * operator's do.
 */
import type { AgentCard, AgentInterface } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { elicitationExtension } from '../../a2a/extension.ts';
import type { ServerConfig } from '../../config/config.ts';
import { networkFailure } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import type { Unreachable } from '../tool-call.ts';
import { createAgentRequests } from './request.ts';

export interface ReadCard {
  kind: 'card';
  /** With the one interface that is used. */
  card: AgentCard;
  isStreaming: boolean;
  /** It knows the extension for questions. */
  isStructured: boolean;
}

export interface Cards {
  of(server: ServerConfig, signal: AbortSignal): Promise<ReadCard | Unreachable>;
  /** It led nowhere. */
  drop(server: ServerConfig): void;
}

const keptMs = 5 * 60_000;
const checkCard = 'The operator should check that it runs and that its card in the agents file is right.';
const bindings = ['JSONRPC', 'HTTP+JSON'];
const nobodys = { kind: 'credential', headers: {}, version: 0 } as const;

export function createCards(): Cards {
  const known = new Map<string, { read: ReadCard; until: number }>();
  return {
    async of(server, signal) {
      const kept = known.get(server.name);
      if (kept && Date.now() < kept.until) return kept.read;
      const read = await readCard(server, signal);
      if (read.kind === 'card') known.set(server.name, { read, until: Date.now() + keptMs });
      return read;
    },
    drop: ({ name }) => void known.delete(name),
  };
}

async function readCard(server: ServerConfig, signal: AbortSignal): Promise<ReadCard | Unreachable> {
  const requests = createAgentRequests({ server, credential: nobodys, signal });
  const name = nameOf(server);
  try {
    const response = await requests.fetch(server.agent?.card ?? '', {
      method: 'GET',
      headers: { accept: 'application/json', 'a2a-version': '1.0' },
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return unreachable(`${name} gives no agent card (HTTP ${response.status}). ${checkCard}`);
    }
    return usable(server, await response.json());
  } catch {
    const trace = requests.last();
    if (signal.aborted) return unreachable(`${name} did not send its agent card in time.`);
    return unreachable(
      trace?.status === undefined
        ? networkFailure(name, trace?.failure, checkCard)
        : `${name} sends something else than an agent card. ${checkCard}`,
    );
  }
}

function usable(server: ServerConfig, raw: unknown): ReadCard | Unreachable {
  const name = nameOf(server);
  const resolver = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });
  const card = resolver.normalizeAgentCard(raw);
  const offered: AgentInterface[] = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces : [];
  const spoken = offered
    .filter(
      (one) => bindings.includes(one.protocolBinding) && /^(?:1|0\.3)(?:\.|$)/.test(one.protocolVersion),
    )
    .toSorted((one, other) => Number(isOld(one)) - Number(isOld(other)));
  if (spoken.length === 0)
    return unreachable(
      `${name} offers no way to talk to it that is known here: its agent card has to name JSONRPC or HTTP+JSON of A2A 1.0 or 0.3. ${checkCard}`,
    );
  const used = spoken.find(({ url }) => isVouchedFor(server, url));
  if (!used)
    return unreachable(
      `The agent card of ${name} sends messages to another host, where nothing is sent to. The operator can allow it with endpoint in the agents file.`,
    );
  const { capabilities } = card;
  return {
    kind: 'card',
    card: { ...card, supportedInterfaces: [used] },
    isStreaming: capabilities?.streaming === true,
    isStructured: (capabilities?.extensions ?? []).some(({ uri }) => uri === elicitationExtension),
  };
}

/** A card can be changed by whoever writes it; where an account's credential goes is the operator's word. */
function isVouchedFor({ agent }: ServerConfig, url: string): boolean {
  const given = [agent?.card, agent?.endpoint].flatMap((one) =>
    one === undefined ? [] : [new URL(one).origin],
  );
  return URL.canParse(url) && given.includes(new URL(url).origin);
}

function isOld({ protocolVersion }: AgentInterface): boolean {
  return protocolVersion.startsWith('0.');
}

function unreachable(message: string): Unreachable {
  return { kind: 'unreachable', message };
}
