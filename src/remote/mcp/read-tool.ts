/** Reads the definition of a tool. One that must not or cannot be called is left out, with the reason for its author. */
import { z } from 'zod';
import type { CatalogueTool } from '../../storage/ports/tool-catalogue.ts';
import type { LeftOut } from '../remote-servers.ts';
import { faultOfHeaders } from './modern/parameter-headers.ts';

const hint = z.boolean().optional().catch(undefined);
const toolSchema = z.object({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  /** Whatever it is: for the model it is converted, and the server checks the arguments itself. */
  inputSchema: z
    .looseObject({})
    .nullish()
    .transform((schema) => schema ?? { type: 'object' }),
  annotations: z
    .object({ readOnlyHint: hint, idempotentHint: hint, destructiveHint: hint })
    .optional()
    .catch(undefined),
});

/** What MCP recommends (2025-11-25, tool names), and the slash. People read the name on our pages: it must be no sentence. */
const toolName = /^[A-Za-z0-9_./-]{1,128}$/;
const unreadableName = 'its name is not 1 to 128 letters, digits and _ . / -';

/** Older servers know nothing of headers for arguments, so there the keyword means nothing. */
export function readTool(value: unknown, hasHeaders: boolean): CatalogueTool | LeftOut {
  const { data, error } = toolSchema.safeParse(value);
  if (!data)
    return leaveOut(
      value,
      `its definition has no usable "${error.issues[0]?.path[0]?.toString() ?? 'name'}"`,
    );
  if (!toolName.test(data.name)) return leaveOut(value, unreadableName);
  const { type = 'object' } = data.inputSchema;
  if (type !== null && ![type].flat().includes('object'))
    return leaveOut(
      value,
      `its inputSchema is of type ${JSON.stringify(type).slice(0, 40)}, and arguments are an object`,
    );
  const reason = hasHeaders ? faultOfHeaders(data.inputSchema) : undefined;
  return reason === undefined ? withoutUndefined(data) : leaveOut(data, reason);
}

export function leaveOut(tool: unknown, reason: string): LeftOut {
  const { data } = z.object({ name: z.string().min(1) }).safeParse(tool);
  return { tool: data?.name.slice(0, 128) ?? '(without a name)', reason: reason.slice(0, 256) };
}

/** JSON has no `undefined`; neither do the rows these become. */
function withoutUndefined(tool: z.infer<typeof toolSchema>): CatalogueTool {
  return JSON.parse(JSON.stringify(tool)) as CatalogueTool;
}
