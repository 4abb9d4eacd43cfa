/**
 * The messages of a thread, and whether a client has them. What a client sends as history is used for nothing else.
 */
import type { AgUiEvent, AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import type { ReadTurn } from '../../service/conversations.ts';
import type { Principal } from '../../service/principal.ts';
import type { Service } from '../../service/service.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { inWords } from '../../turn/for-person.ts';
import { toUserContent } from './content.ts';
import { createTranslator, idPrefix } from './translate.ts';
import type { AgUiMessage } from './translate.ts';

/** The newest turns are enough to see whether the client has the thread. */
const turnsCompared = 3;
const turnsPerPage = 20;
/** In a snapshot. */
const mostTurns = 200;

interface Thread {
  /** The messages of the thread, up to the limits, with these of the run's turn. */
  snapshot(own: AgUiMessage[]): Promise<AgUiEvent>;
  /** Whether the client lacks one of these messages, or has one that was withdrawn. */
  misses(own: AgUiMessage[]): Promise<boolean>;
}

export function createThread(
  service: Service,
  principal: Principal,
  {
    body,
    current,
    isOld,
    language,
    mostBytes,
  }: {
    body: AgUiRun;
    current: string | undefined;
    isOld: boolean;
    language: Language | null;
    /** Of the earlier turns in a snapshot: older ones are left out. */
    mostBytes: number;
  },
): Thread {
  /** The newest turns that a snapshot has, oldest first, before the run's turn has said anything. */
  async function turnsBefore({ most, images }: { most: number; images: boolean }) {
    const kept: { turnId: string; messages: AgUiMessage[] }[] = [];
    let room = mostBytes;
    let before: number | null = null;
    do {
      // The limit for the bytes of images holds for a page, so only the newest one has them.
      const page = { before, limit: Math.min(most, turnsPerPage), images: images && before === null };
      const { turns, next } = await service.readConversation(principal, body.threadId, page);
      for (const turn of turns.toReversed()) {
        const messages = messagesOf(turn);
        room -= bytesOf(messages);
        if (kept.length > 0 && (room < 0 || kept.length >= most)) return kept.toReversed();
        kept.push({ turnId: turn.turnId, messages });
      }
      before = next?.seq ?? null;
    } while (before !== null && kept.length < most);
    return kept.toReversed();
  }

  function messagesOf({ turnId, given, log }: ReadTurn): AgUiMessage[] {
    const asked = given.map(({ id, role, content }): AgUiMessage => ({
      id,
      role,
      content: toUserContent(content),
    }));
    if (turnId === current) return asked;
    const translator = createTranslator({ isOld });
    for (const { event, ...entry } of log ?? [])
      translator.add({ ...entry, event: inWords(event, language) });
    return [...asked, ...translator.messages()];
  }

  return {
    async snapshot(own) {
      const turns = await turnsBefore({ most: mostTurns, images: true });
      return {
        type: 'MESSAGES_SNAPSHOT',
        messages: [...turns.flatMap(({ messages }) => messages), ...own],
      };
    },
    async misses(own) {
      const turns = await turnsBefore({ most: turnsCompared, images: false });
      const all = [...turns.flatMap(({ messages }) => messages), ...own];
      const stored = all.filter(({ role }) => role !== 'reasoning');
      const posted = body.messages.map(fingerprintOf);
      let next = 0;
      for (const message of stored) {
        next = posted.indexOf(fingerprintOf(message), next) + 1;
        if (next === 0) return true;
      }
      const ids = new Set(stored.map(({ id }) => id));
      const prefixes = turns.map(({ turnId }) => idPrefix(turnId));
      return body.messages.some(
        ({ id, role }) =>
          (role === 'assistant' || role === 'tool') &&
          !ids.has(id) &&
          prefixes.some((prefix) => id.startsWith(prefix)),
      );
    },
  };
}

/** Without the images of users, for which requests have more room. */
function bytesOf(messages: AgUiMessage[]): number {
  const texts = messages.map((message) => {
    const { role, content } = message;
    if (role !== 'user' || !Array.isArray(content)) return message;
    return { ...message, content: content.filter(({ type }: { type: string }) => type === 'text') };
  });
  return Buffer.byteLength(JSON.stringify(texts));
}

function fingerprintOf({
  id,
  role,
  content,
  toolCalls,
  toolCallId,
}: Pick<AgUiMessage, 'id' | 'content'> & {
  role: string;
  toolCalls?: unknown;
  toolCallId?: unknown;
}): string {
  // A front end names the results of its own tools.
  if (role === 'tool') return JSON.stringify([role, asText(toolCallId)]);
  if (role !== 'assistant') return JSON.stringify([role, id]);
  const calls = Array.isArray(toolCalls)
    ? toolCalls.map((call: { id?: unknown } | null) => asText(call?.id))
    : [];
  return JSON.stringify([role, id, asText(content ?? ''), calls]);
}

/** Ours are texts. What a client sends may be nested too deep for JSON. */
function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
