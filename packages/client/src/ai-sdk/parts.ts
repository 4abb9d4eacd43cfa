/**
 * The parts of an agent's answer, before they are translated for one version of the AI SDK's provider interface, and how
 * they are made from the views of a turn. Where the versions agree, the shapes are theirs. Pure.
 */
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { keyOf } from '../turn-view.ts';
import type { Part, TextPart, TurnView } from '../turn-view.ts';

/** A question, sent when it opens and whenever its status changes, with the ids that an answer needs. */
export interface Question {
  type: 'elicitation';
  elicitation: ElicitationRequest & { conversationId: string };
}

export type AgentPart =
  | { type: 'stream-start'; warnings: Warning[] }
  | { type: 'response-metadata'; id?: string; modelId: string; timestamp: Date }
  | { type: 'text-start' | 'reasoning-start'; id: string }
  /** `void: true`: the text does not count, because its model call was repeated; a stream cannot remove it. */
  | { type: 'text-end' | 'reasoning-end'; id: string; providerMetadata?: { interlude: { void: true } } }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | Question
  | { type: 'error'; error: unknown }
  | ({ type: 'finish' } & Finish);

/** The parts of an answer without streaming. */
export type AgentContent = { type: 'text' | 'reasoning'; text: string } | Question;

export interface Finish {
  finishReason: { unified: 'stop' | 'length' | 'content-filter' | 'error' | 'other'; raw: string };
  /** Sum of all model calls of the turn. */
  usage: {
    inputTokens: Tokens<'total' | 'noCache' | 'cacheRead' | 'cacheWrite'>;
    outputTokens: Tokens<'total' | 'text' | 'reasoning'>;
  };
  providerMetadata: { interlude: { conversationId: string; turnId: string | null; status: string } };
}

type Tokens<Kind extends string> = Record<Kind, number | undefined>;

export interface Warning {
  type: 'unsupported' | 'compatibility';
  feature: string;
  details: string;
}

interface TextSeen extends Pick<TextPart, 'kind' | 'id' | 'done'> {
  length: number;
}

export interface PartTranslator {
  /** To be called with every view of a turn. */
  toParts(view: TurnView): AgentPart[];
  /** Closes open texts. */
  toEnds(): AgentPart[];
}

/**
 * What a view contains more than the previous one becomes parts. Removed text cannot be taken out of a stream: it is closed with a
 * mark. The agent's tool calls are left out, because consumers would try to make them.
 */
export function createPartTranslator(): PartTranslator {
  const texts = new Map<string, TextSeen>();
  const statuses = new Map<string, string>();
  let hasText = false;

  function fromText({ kind, id, text, done }: TextPart): AgentPart[] {
    const seen = texts.get(keyOf({ kind, id }));
    const parts: AgentPart[] = [];
    if (!seen) parts.push({ type: `${kind}-start`, id });
    const from = seen?.length ?? 0;
    if (text.length > from) {
      // Consumers join all texts, so text after a tool call begins a new paragraph.
      const isLater = kind === 'text' && from === 0 && hasText;
      parts.push({ type: `${kind}-delta`, id, delta: (isLater ? '\n\n' : '') + text.slice(from) });
      hasText ||= kind === 'text';
    }
    if (done && seen?.done !== true) parts.push({ type: `${kind}-end`, id });
    texts.set(keyOf({ kind, id }), { kind, id, done, length: text.length });
    return parts;
  }

  function fromPart(part: Part, conversationId: string): AgentPart[] {
    switch (part.kind) {
      case 'text':
      case 'reasoning':
        return fromText(part);
      case 'elicitation': {
        const { status } = part.elicitation;
        if (statuses.get(part.id) === status) return [];
        statuses.set(part.id, status);
        return [{ type: 'elicitation', elicitation: { ...part.elicitation, conversationId } }];
      }
      case 'tool-call':
      case 'tool-auth-required':
        return [];
      default:
        return part satisfies never;
    }
  }

  function endsOf(
    given: TextSeen[],
    more?: { providerMetadata: { interlude: { void: true } } },
  ): AgentPart[] {
    const open = given.filter(({ done }) => !done);
    for (const text of open) text.done = true;
    return open.map(({ kind, id }) => ({ type: `${kind}-end`, id, ...more }));
  }

  return {
    toParts({ parts, conversationId }) {
      const kept = new Set(parts.map(keyOf));
      const takenBack = [...texts.values()].filter((text) => !kept.has(keyOf(text)));
      const ends = endsOf(takenBack, { providerMetadata: { interlude: { void: true } } });
      return [...ends, ...parts.flatMap((part) => fromPart(part, conversationId))];
    },
    toEnds: () => endsOf([...texts.values()]),
  };
}

/** For an answer without streaming, which does not contain removed text. */
export function createWholeTranslator(): PartTranslator {
  const { toParts, toEnds } = createPartTranslator();
  let last: TurnView | undefined;
  return {
    toParts(view) {
      last = view;
      return [];
    },
    toEnds: () => [...(last ? toParts(last) : []), ...toEnds()],
  };
}

/** Joins the parts of an answer: whole texts, and the last state of each question. */
export function toContent(parts: Iterable<AgentPart>): AgentContent[] {
  const content = new Map<string, AgentContent>();
  for (const part of parts) {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const type = part.type === 'text-delta' ? 'text' : 'reasoning';
        const known = content.get(`${type} ${part.id}`);
        const before = known?.type === type ? known.text : '';
        content.set(`${type} ${part.id}`, { type, text: before + part.delta });
        break;
      }
      case 'elicitation':
        content.set(`elicitation ${part.elicitation.elicitationId}`, part);
        break;
      case 'stream-start':
      case 'response-metadata':
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
      case 'error':
      case 'finish':
        break;
      default:
        part satisfies never;
    }
  }
  return [...content.values()];
}
