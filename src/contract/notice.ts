/** What a reader is told who cannot be asked: the `data` of a part `data-tool-auth-required`, whose id is the tool call's. */
import { z } from 'zod';

export const ToolAuthRequiredSchema = z
  .looseObject({
    server: z.string(),
    serverTitle: z.string(),
    /** As in the tool call. */
    toolName: z.string(),
    /** For the person: what is missing, and where it can be had. */
    message: z.string(),
    url: z.url().optional().meta({
      description:
        'Where the person can connect it. Absent where only an operator can: `message` says whom to ask',
    }),
  })
  .meta({ id: 'ToolAuthRequired' });

export type ToolAuthRequired = z.infer<typeof ToolAuthRequiredSchema>;
