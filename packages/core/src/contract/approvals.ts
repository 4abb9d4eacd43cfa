/** Tools whose calls a user has approved in advance, for one conversation or for all. */
import { z } from 'zod';
import { ElicitationIdSchema } from './http.ts';

export const ApprovalSchema = z
  .looseObject({
    id: z.string().meta({ description: 'Of the question in which it was said' }),
    server: z.string().nullable().meta({ description: "`null` for a tool of an agent's own" }),
    serverTitle: z.string().meta({ description: "Where the tool is an agent's own: the agent's" }),
    host: z.string().nullable().meta({
      description: 'Where the server was then: if it moves, people are asked again. `null` as `server`',
    }),
    tool: z.string().meta({ description: 'Its own name at its server, or in its folder' }),
    conversationId: z.string().nullable().meta({ description: '`null`: in all conversations' }),
    approvedAt: z.iso.datetime(),
  })
  .meta({
    id: 'Approval',
    examples: [
      {
        id: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
        server: 'wiki',
        serverTitle: 'Wiki',
        host: 'wiki.example.com',
        tool: 'delete_page',
        conversationId: null,
        approvedAt: '2026-11-21T12:00:00.000Z',
      },
    ],
  });

export type Approval = z.infer<typeof ApprovalSchema>;

export const ApprovalListSchema = z
  .looseObject({ items: z.array(ApprovalSchema), next: z.null() })
  .meta({ id: 'ApprovalList' });

export type ApprovalList = z.infer<typeof ApprovalListSchema>;

export const ApprovalParamsSchema = z.object({
  approval: ElicitationIdSchema.meta({
    description: 'Its id',
    examples: ['0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90'],
  }),
});
