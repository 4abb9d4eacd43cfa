/** An agent with what its requests need, and how a request finds it. */
import type { AgentCard } from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { elicitationExtension } from '../../a2a/extension.ts';

export interface Served {
  card: AgentCard;
  handler: A2ARequestHandler;
}

export interface Agents {
  /** Throws for an agent that there is not. */
  find(name: string): Served;
  contextFor(request: FastifyRequest, reply: FastifyReply): ServerCallContext;
}

/** Says which of the extensions that were asked for is spoken. */
export function nameExtensions(reply: FastifyReply, context: ServerCallContext, header: string): void {
  if (context.activatedExtensions?.includes(elicitationExtension)) reply.header(header, elicitationExtension);
}
