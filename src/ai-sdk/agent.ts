/**
 * An agent on the service, called as a language model. One call is one turn: whatever the agent does in it, with its
 * own tools and in its own steps, the consumer gets as one answer.
 */
import type { AgentContent, AgentPart, Finish, Warning } from './agent-part.ts';
import type { Call } from './call.ts';
import { toContent } from './content.ts';
import { openTurn } from './open-turn.ts';
import type { TurnOptions } from './open-turn.ts';
import { toPartStream } from './part-stream.ts';
import { createPartTranslator, createWholeTranslator } from './parts.ts';
import { readParts } from './read-parts.ts';

export interface Agent {
  generate(call: Call): Promise<Answer>;
  stream(call: Call): Promise<AnswerStream>;
}

export interface Answer extends Finish {
  content: AgentContent[];
  warnings: Warning[];
  response: { id?: string; modelId: string; headers: Record<string, string> };
}

export interface AnswerStream {
  stream: ReadableStream<AgentPart>;
  response: { headers: Record<string, string> };
}

export function createAgent(agentId: string, options: TurnOptions): Agent {
  return {
    async generate(call) {
      const turn = await openTurn(agentId, options, call);
      const parts: AgentPart[] = [];
      for await (const part of readParts(turn, call, createWholeTranslator())) {
        if (part.type === 'error') throw part.error;
        parts.push(part);
      }
      const last = parts.at(-1);
      if (last?.type !== 'finish') throw new Error('An answer ends with its finish.');
      const { type: _, ...finish } = last;
      const { headers, warnings, first } = turn;
      const response = { ...(first.turnId !== null && { id: first.turnId }), modelId: agentId, headers };
      return { ...finish, content: toContent(parts), warnings, response };
    },

    async stream(call) {
      const turn = await openTurn(agentId, options, call);
      const parts = readParts(turn, call, createPartTranslator());
      return { stream: toPartStream(parts, turn), response: { headers: turn.headers } };
    },
  };
}
