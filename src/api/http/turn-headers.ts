import type { FastifyReply } from 'fastify';
import type { TurnRef } from '../../turn/turn.ts';

/** Every response about a turn says which one, and in which conversation. */
export function nameTurn(reply: FastifyReply, { conversation, turnId }: TurnRef): void {
  reply.headers({ 'x-conversation-id': conversation, 'x-turn-id': turnId });
}
