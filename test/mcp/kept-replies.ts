/** Notes which questions have an answer that is kept for followers of their call; `around` is for the service. */
import type { Storage } from '../../src/storage/storage.ts';

export function noteKeptReplies() {
  const kept: string[] = [];
  const around = (storage: Storage): Storage => ({
    ...storage,
    mcpSessions: {
      ...storage.mcpSessions,
      async putReply(sessionId, reply) {
        await storage.mcpSessions.putReply(sessionId, reply);
        kept.push(reply.elicitationId);
      },
    },
  });
  return { kept, around };
}
