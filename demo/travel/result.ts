/** How a tool of the desk answers: in words for the model, and as data. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';

const statuses = ['booked', 'reserved', 'draft', 'paid', 'unpaid', 'declined', 'dismissed'] as const;

export const resultShape = {
  status: z.enum(statuses),
  trip: z.string().optional().describe('The trip’s number'),
  offsite: z.string().optional().describe('The offsite’s number'),
};

/** A person who says no has not made the tool fail: what became of it is in `status`. */
export function said(
  status: (typeof statuses)[number],
  text: string,
  ids: { trip?: string; offsite?: string } = {},
): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent: { status, ...ids } };
}

export function notDone(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
