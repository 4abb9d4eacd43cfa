/** Plain: a tool that asks nothing is a function for Node. */
import { defineTool } from '@interlude-ai/tools';
import { z } from 'zod';
import { readTeams } from './activities.ts';

export const listTeams = defineTool({
  name: 'list_teams',
  description: 'Lists the teams.',
  input: z.object({}),
  output: z.object({ teams: z.array(z.string()) }),
  annotations: { readOnlyHint: true },
  timeout: '10s',
  idempotent: true,
  execute: () => ({ teams: readTeams() }),
});
