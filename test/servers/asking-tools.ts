/** What servers of the v2 SDK whose tools ask have in common. */
import { inputRequired } from '@modelcontextprotocol/server';
import type { InputRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';

export const text = (words: string, isError = false) => ({
  content: [{ type: 'text' as const, text: words }],
  ...(isError && { isError }),
});

/** The form that asks for a number of nights, and what its answer looks like. */
export const nightsForm = {
  type: 'object' as const,
  properties: { nights: { type: 'integer' as const, title: 'Nights', minimum: 1, maximum: 30 } },
  required: ['nights'],
};
export const Nights = z.object({ nights: z.number() });

export const nights = (city: string): InputRequest =>
  inputRequired.elicit({ message: `How many nights in ${city}?`, requestedSchema: nightsForm });
