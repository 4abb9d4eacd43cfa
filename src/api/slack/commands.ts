/** A slash command as it comes, over HTTP or the socket, and its answer, which only its author sees. */
import { z } from 'zod';
import { parseInput, ProblemError } from '../http/problems.ts';
import type { SlackApp } from './app.ts';

const id = z.string().min(1).max(100);
const commandSchema = z.object({
  team_id: id,
  channel_id: id,
  user_id: id,
  text: z.string().max(4_000).default(''),
});

export const notInstalled = 'The app is not installed in this workspace.';

export async function answerCommand(slack: Pick<SlackApp, 'runCommand'>, fields: unknown) {
  const command = parseInput(commandSchema, fields);
  const { team_id: team, channel_id: channel, user_id: slackUser, text } = command;
  const answer = await slack.runCommand(team, { channel, slackUser, text });
  if (answer === null) throw new ProblemError('forbidden', notInstalled);
  return { response_type: 'ephemeral', text: answer };
}
