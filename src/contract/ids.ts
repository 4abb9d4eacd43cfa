import { z } from 'zod';

const form = /^[A-Za-z0-9._:-]{1,128}$/;

/** Ids that clients may choose: conversations, messages. */
export const ClientIdSchema = z
  .string()
  .regex(form, 'use 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-"')
  .meta({ description: 'Chosen by the client' });

/** Ids that we chose and clients hand back. What cannot be one is not looked for: some texts fail in a database. */
export const ElicitationIdSchema = z
  .string()
  .regex(form, 'this is not the id of a question')
  .meta({ description: '`elicitationId` of the question' });

/** Agents have shorter names; what is longer is no mistake in a name. */
export const AgentNameSchema = z.string().min(1).max(128, 'no agent has a name that long');

/** In the path of a route. */
export const ConversationParamsSchema = z.object({
  conversation: ClientIdSchema.meta({ description: 'The conversation', examples: ['demo-1'] }),
});
