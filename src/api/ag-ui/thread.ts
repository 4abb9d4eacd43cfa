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
  const read = (page: { before: number | null; limit: number; images?: boolean }) =>
    service.readConversation(principal, body.threadId, page);

  /** The messages before the run's turn has said anything, of whole turns, from the newest back to a limit. */
  async function messagesBefore(): Promise<AgUiMessage[]> {
    const kept: AgUiMessage[][] = [];
    let room = mostBytes;
    let before: number | null = null;
    do {
      // The limit for the bytes of images holds for a page, so only the newest one has them.
      const { turns, next } = await read({ before, limit: turnsPerPage, images: before === null });
      for (const turn of turns.toReversed()) {
        const messages = messagesOf(turn);
        room -= Buffer.byteLength(JSON.stringify(messages));
        if (kept.length > 0 && (room < 0 || kept.length >= mostTurns)) return kept.toReversed().flat();
        kept.push(messages);
      }
      before = next?.seq ?? null;
    } while (before !== null);
    return kept.toReversed().flat();
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
      return { type: 'MESSAGES_SNAPSHOT', messages: [...(await messagesBefore()), ...own] };
    },
    async misses(own) {
      const { turns } = await read({ before: null, limit: turnsCompared });
      const stored = [...turns.flatMap(messagesOf), ...own].filter(({ role }) => role !== 'reasoning');
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
  if (role === 'tool') return JSON.stringify([role, toolCallId]);
  if (role !== 'assistant') return JSON.stringify([role, id]);
  const calls = Array.isArray(toolCalls) ? toolCalls.map((call: { id?: unknown } | null) => call?.id) : [];
  return JSON.stringify([role, id, content ?? '', calls]);
}
