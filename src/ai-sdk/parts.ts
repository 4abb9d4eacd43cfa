/**
 * Views of a turn → parts of an answer: what a view says more than the one before it becomes parts. What it takes back
 * cannot be taken out of a stream: it is closed, with a mark. The agent's tool calls stay out: consumers would take them for calls that they have to make.
 * Pure.
 */
import { keyOf } from '../client/turn-view.ts';
import type { Part, TextPart, TurnView } from '../client/turn-view.ts';
import type { AgentPart } from './agent-part.ts';

interface TextSeen extends Pick<TextPart, 'kind' | 'id' | 'done'> {
  length: number;
}

export interface PartTranslator {
  /** To be given every view of a turn from the first. */
  toParts(view: TurnView): AgentPart[];
  /** Closes what is still open. */
  toEnds(): AgentPart[];
}

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
      // Consumers put all text together as one; what the agent says after a tool is a paragraph of its own.
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

/** For an answer that is read when it is whole: what was taken back until then is not in it. */
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
