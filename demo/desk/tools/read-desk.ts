/** A tool that asks nobody. */
import { activities, defineTool } from 'interlude/tools';
import { z } from 'zod';
import type * as office from './activities.ts';

export const readDesk = defineTool({
  name: 'read_desk',
  title: 'Look around',
  description: 'Reads the wiki’s pages, the members of the teams, the digest and the invoices.',
  input: z.object({}),
  annotations: { readOnlyHint: true },
  activities: activities<typeof office>({ idempotent: ['readDesk'] }),
  async run(_, { activities: office }) {
    const { pages, members, digest, invoices } = await office.readDesk();
    return { pages, members, digest, invoices: invoices.map(({ paymentPage: _, ...invoice }) => invoice) };
  },
});
