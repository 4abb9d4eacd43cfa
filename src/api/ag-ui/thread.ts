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
const turnsPerPage = 50;

interface Thread {
  /** All messages of the thread, with these of the run's turn. */
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
  }: { body: AgUiRun; current: string | undefined; isOld: boolean; language: Language | null },
): Thread {
  /** The messages before the run's turn has said anything. */
  async function messagesBefore({ limit, isWhole }: { limit: number; isWhole: boolean }) {
    let turns: ReadTurn[] = [];
    let before: number | null = null;
    do {
      // The limit for the bytes of images holds for a page, so only the newest one has them.
      const page = { before, limit, images: isWhole && before === null };
      const read = await service.readConversation(principal, body.threadId, page);
      turns = [...read.turns, ...turns];
      before = read.next?.seq ?? null;
    } while (isWhole && before !== null);
    return { turns, messages: turns.flatMap(messagesOf) };
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
      const { messages } = await messagesBefore({ limit: turnsPerPage, isWhole: true });
      return { type: 'MESSAGES_SNAPSHOT', messages: [...messages, ...own] };
    },
    async misses(own) {
      const { turns, messages } = await messagesBefore({ limit: turnsCompared, isWhole: false });
      const stored = [...messages, ...own].filter(({ role }) => role !== 'reasoning');
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
}: Pick<AgUiMessage, 'id' | 'content'> & { role: string; toolCalls?: unknown }): string {
  if (role !== 'assistant') return JSON.stringify([role, id]);
  const calls = Array.isArray(toolCalls) ? toolCalls.map((call: { id?: unknown } | null) => call?.id) : [];
  return JSON.stringify([role, id, content ?? '', calls]);
}
