/** A tool that asks nothing. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import { readDesk as readOffice } from './activities.ts';

export const readDesk = defineTool({
  name: 'read_desk',
  title: 'Look around',
  description: 'Reads the wiki’s pages, the members of the teams, the digest and the invoices.',
  input: z.object({}),
  annotations: { readOnlyHint: true },
  timeout: '10s',
  idempotent: true,
  async execute() {
    const { pages, members, digest, invoices } = await readOffice();
    return { pages, members, digest, invoices: invoices.map(({ paymentPage: _, ...invoice }) => invoice) };
  },
});
