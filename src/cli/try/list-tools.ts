/** The tools of a server as it lists them, and what is wrong with those that cannot be called. */
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { faultOfHeaders } from '../../remote/mcp/modern/parameter-headers.ts';

const toolSchema = z.looseObject({
  name: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()).catch({}),
  outputSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
  annotations: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

export type ListedTool = z.infer<typeof toolSchema>;

export interface ToolList {
  tools: ListedTool[];
  /** Sentences about tools that cannot be called. */
  problems: string[];
}

const pageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional(),
  ttlMs: z.number().min(0).catch(0),
  cacheScope: z.enum(['public', 'private']).catch('private'),
});

const mostPages = 100;

export async function listTools(client: Client, timeoutMs: number): Promise<ToolList> {
  const tools: ListedTool[] = [];
  const problems: string[] = [];
  const isModern = client.getProtocolEra() === 'modern';
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } };
    const { tools: listed, nextCursor } = await client.request(request, pageSchema, { timeout: timeoutMs });
    for (const one of listed) {
      const { data } = toolSchema.safeParse(one);
      if (!data) {
        problems.push('A tool without a name is listed.');
        continue;
      }
      if (data.inputSchema['type'] !== 'object')
        problems.push(`${data.name}: its inputSchema is not of "type": "object".`);
      const reason = isModern ? faultOfHeaders(data.inputSchema) : undefined;
      if (reason !== undefined) problems.push(`${data.name}: ${reason}; clients must not call it over HTTP.`);
      if (tools.some(({ name }) => name === data.name)) problems.push(`${data.name}: is listed twice.`);
      else tools.push(data);
    }
    if (nextCursor === undefined || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return { tools, problems };
}
